// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf-empty SECONDS: what the kernel's BPF statistics say of a program that
 * does nothing at each sched_switch, in ns per run: the cost of measuring,
 * which is in every other figure of theirs. kernel.bpf_stats_enabled is 1.
 */

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { .type = 0 };
	__u32 size = sizeof(info);
	int fd;

	if (argc != 2)
		return 2;
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL",
			   nothing, 2, NULL);
	if (fd < 0 || bpf_raw_tracepoint_open("sched_switch", fd) < 0) {
		fprintf(stderr, "bpf-empty: %s\n", strerror(errno));
		return 1;
	}
	sleep((unsigned int)atoi(argv[1]));
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || !info.run_cnt)
		return 1;
	printf("%.1f\n", (double)info.run_time_ns / (double)info.run_cnt);
	return 0;
}
