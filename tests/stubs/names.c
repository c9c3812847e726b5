/* Stands for a name server: preload it into ssh. NAMES holds "asked=canonical" pairs, blank apart, which all
   lead to 127.0.0.1; any other name that ends in .test has no address.
   ssh asks for whole names with a dot behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static char *canonical(const char *node)
{
	const char *at = getenv("NAMES");
	size_t length = strlen(node), rest;

	if (length > 0 && node[length - 1] == '.')
		length--;
	while (at != NULL && *at != '\0') {
		rest = strcspn(at, " ");
		if (strncmp(at, node, length) == 0 && at[length] == '=')
			return strndup(at + length + 1, rest - length - 1);
		at += rest + strspn(at + rest, " ");
	}
	return NULL;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	lookup real = (lookup)dlsym(RTLD_NEXT, "getaddrinfo");
	const char *end = node == NULL ? NULL : strstr(node, ".test");
	char *name = node == NULL ? NULL : canonical(node);
	int failed;

	if (name == NULL && end != NULL && end[5 + (end[5] == '.')] == '\0')
		return EAI_NONAME;
	if (name == NULL || (hints != NULL && (hints->ai_flags & AI_NUMERICHOST)))
		return real(node, service, hints, found);
	failed = real("127.0.0.1", service, hints, found);
	if (failed == 0 && hints != NULL && (hints->ai_flags & AI_CANONNAME)) {
		free((*found)->ai_canonname);
		(*found)->ai_canonname = name;
	}
	return failed;
}
