// The program that the policy of the attacks denies: it leaves a mark.
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int fd = open(MARK, O_WRONLY | O_CREAT | O_APPEND, 0666);
	return write(fd, argv[0], 1) != 1;
}
