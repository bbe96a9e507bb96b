package peer;

/** Why a command failed, in words for a person. */
final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failure(String why) {
        super(why);
    }
}
