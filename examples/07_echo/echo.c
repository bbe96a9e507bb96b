/* An echo server over raw sockets, as it has to be written: README.md goes through it line by line.
 * cc -O2 -o echo echo.c && ./echo          prints its address, serves until it is killed */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int echo(int stream)
{
    char buffer[4096];
    ssize_t received, sent, done;

    for (;;) {
        received = recv(stream, buffer, sizeof buffer, 0);
        if (received == -1 && errno == EINTR)
            continue;
        if (received <= 0)
            return received;
        for (done = 0; done < received; done += sent) {
            sent = send(stream, buffer + done, received - done, MSG_NOSIGNAL);
            if (sent == -1 && errno == EINTR)
                sent = 0;
            else if (sent == -1)
                return -1;
        }
    }
}

int main(void)
{
    struct sockaddr_in address, peer;
    socklen_t length;
    int listener, stream;

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener == -1) {
        perror("socket");
        return 1;
    }
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == -1) {
        perror("bind");
        return 1;
    }
    if (listen(listener, SOMAXCONN) == -1) {
        perror("listen");
        return 1;
    }
    length = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &length) == -1) {
        perror("getsockname");
        return 1;
    }
    printf("tcp:127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);

    for (;;) {
        length = sizeof peer;
        stream = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC);
        if (stream == -1) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            perror("accept");
            return 1;
        }
        if (echo(stream) == -1)
            perror("echo");
        close(stream);
    }
}
