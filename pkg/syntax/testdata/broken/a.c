#include <stdio.h>

struct point {
	int x;
	int y;
};

static int one(int a)
{
	if (a > 1) {
		printf("x %d", a);
	}
	return a;
}

/* two */
int two(const char *b)
{
	int list[3] = {1, 2, 3};
	while (*b) {
		b++;
	}
	return list[0];
}

int three(void)
{
	return one(3);
}
