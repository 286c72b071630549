#include <stdio.h>
#define LIMIT 10
#define SQUARE(x) ((x) * (x))

typedef struct point { int x, y; } Point;
typedef int (*handler)(int);
struct shape;
struct node { struct node *next; };
enum color { RED, GREEN };
union bits { int a; float b; };
static const int table[] = { 1, 2 };
int counter = 0;
extern int elsewhere(int a);

/* Adds. */
static inline int add(int a, int b)
{
	return a + b;
}

char *name(void) { return 0; }
#ifdef X
void only(void) {}
#else
void other(void) {}
#endif
int (*pick(int a))(int) { return 0; }
