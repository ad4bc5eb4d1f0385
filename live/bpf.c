// SPDX-License-Identifier: GPL-2.0-only
/* Why BPF does not load. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "live/bpf.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define CAPABILITIES	"CAP_BPF, CAP_PERFMON and CAP_SYSLOG"

static int locked_down(void)
{
	FILE *file = fopen(LOCKDOWN, "re");
	char line[100] = "";
	int found;

	if (!file)
		return 0;
	found = fgets(line, sizeof(line), file) &&
		strstr(line, "[confidentiality]");
	fclose(file);
	return found;
}

int ilb_bpf_refused(int number, struct ilb_error *error)
{
	if (locked_down())
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				LOCKDOWN ": confidentiality: BPF may not read the kernel; boot with lockdown=integrity or none");
	/* EACCES is the verifier's. */
	if (number == EPERM)
		return ilb_fail(error, ILB_ERR_PERM,
				"BPF: not permitted; run as root, or with "
				CAPABILITIES);
	if (number == ENOSYS)
		return ilb_fail(error, ILB_ERR_UNSUPPORTED,
				"this kernel has no BPF; use one with CONFIG_BPF_SYSCALL");
	if (number == ENOMEM)
		return ilb_fail(error, ILB_ERR_NOMEM, "BPF: out of memory");
	return 0;
}

int ilb_bpf_quiet(enum libbpf_print_level level, const char *format,
		  va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}
