// SPDX-License-Identifier: GPL-2.0-only
/* /proc/kallsyms, as each of its readers takes it; also that of a trace. */

#include <event-parse.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "live/exact_kernel.h"
#include "live/live.h"
#include "live/record.h"
#include "trace/dat.h"
/* Where functions begin and end is asked for inside of it only. */
#include "live/stat_functions.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_trace(const char *text)
{
	struct tep_handle *tep = tep_alloc();
	uint64_t address;

	if (!tep)
		return;
	tep_parse_kallsyms(tep, text);
	for (address = 0; address < 0x40; address++)
		if (ilb_dat_symbols_find(tep, address << 8) > ILB_DAT_TICK)
			abort();
	tep_free(tep);
}

static void read_live(const char *path)
{
	enum ilb_answer symbols[ILB_SYMBOLS];
	struct ilb_kernel_places places = { 0 };
	struct ilb_functions functions = { 0 };
	struct ilb_sampler sampler = { .nr_cpus = 0 };
	struct ilb_error error = { "" };
	unsigned int i;

	ilb_symbols_read(symbols, path);
	ilb_kallsyms_hidden(path);
	if (ilb_kernel_addresses(&places, path, &error) ?
	    !error.text[0] || strchr(error.text, '\n') :
	    !places.nohz || !places.nohz_csd_func)
		abort();
	find_ranges(&sampler, &functions, path);
	for (i = 0; i < ILB_FUNCTIONS; i++)
		if (sampler.range[i].to &&
		    sampler.range[i].to <= sampler.range[i].from)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[32], *text = malloc(size + 1);

	if (!text || fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	read_trace(text);
	free(text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_live(path);
	close(fd);
	return 0;
}
