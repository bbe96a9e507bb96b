#!/bin/sh
# A peer that measures nothing, for tests of the harness: it speaks the protocol of bench/peers and behaves as the file
# `behaviour` beside it says.
behaviour=$(cat "$(dirname "$0")/behaviour")

if [ "$1" = serve ]; then
    if [ "$behaviour" = bereft ]; then
        echo "out of memory" >&2
        echo $$ >"$(dirname "$0")/server"
        echo "$@" >"$(dirname "$0")/words"
        echo "ready 127.0.0.1:1"
        exec cat >/dev/null
    fi
    [ "$behaviour" = refusing ] && { echo "no smoke signals over tcp" >&2; exit 2; }
    echo "ready 127.0.0.1:1"
    cat >/dev/null
    exit 0
fi

echo ready
bursts=0
while read -r command first rest; do
    case "$command" in
    call)
        # Honest in the first event, silent from the second one on.
        [ "$behaviour" = tiring ] && [ $bursts -gt 0 ] && behaviour=silent
        if [ "$behaviour" = unable ]; then echo "unsupported no calls of $first"; else echo ok; fi
        ;;
    burst)
        bursts=$((bursts + 1))
        case "$behaviour" in
        dying)
            if [ $bursts -gt 30 ]; then
                echo "first words" >&2
                echo "out of luck" >&2
                exit 7
            fi
            ;;
        bereft)
            # Its server dies, which it notices.
            if [ $bursts -gt 30 ]; then
                kill -9 "$(cat "$(dirname "$0")/server")"
                echo "error the connection was lost"
                continue
            fi
            ;;
        silent)
            # One that neither answers nor ends when it is asked to, nor alone.
            sleep 1000
            ;;
        lying) echo "ns 3600000000000 1 1 1 1"; continue ;;
        short) echo "ns 1 1"; continue ;;
        failing) echo "error the reply was wrong"; continue ;;
        garbled) echo "bananas"; continue ;;
        esac
        times=
        while [ "$first" -gt 0 ]; do
            times="$times 1000"
            first=$((first - 1))
        done
        echo "ns$times"
        ;;
    flood)
        case "$behaviour" in
        dropping) echo "error buffer 3 never arrived" ;;
        stalling)
            # 3.75 ms a buffer, it says; it takes a little longer, for no claim is believed that answers faster.
            buffers=${rest##* }
            sleep "$((buffers / 250)).$(printf %03d $((buffers % 250 * 4)))"
            echo "flood $((buffers * 3750000)) 1000"
            ;;
        *) echo "flood 1000 900" ;;
        esac
        ;;
    *) echo "error no command $command" ;;
    esac
done
