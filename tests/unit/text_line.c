// SPDX-License-Identifier: GPL-2.0-only
/* One line of text: every event, in every format, and what is none. */

#include "test.h"
#include "text.h"
#include "trace/text.h"

struct line_case {
	const char *line;
	int kind;
	const char *event;	/* as show() prints it; NULL: none */
};

#define E		ILB_TEXT_EVENT
#define REPORT(body)	"          <idle>-0     [005]    39.134806054: " body
#define AT		"39134806054 5 0 "
#define PERF(body)	"         swapper     0 [005]    39.134806054: " body
#define GOOD(body, event)	{ REPORT(body), E, AT event }
#define BAD(body)	{ REPORT(body), ILB_TEXT_ARGS, AT "other" }
#define NONE(line)	{ line, ILB_TEXT_UNPARSED, NULL }

static const struct line_case heads[] = {
	/* trace-cmd report: without options, -t, -l, -t -l, --ts-diff */
	{ "          <idle>-0     [005]    39.134806: cpu_idle:             state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "          <idle>-0     [005]    39.134806054: cpu_idle:             state=1 cpu_id=5",
	  E, "39134806054 5 0 idle 1" },
	{ "  <idle>-0       5d..1.    39.134806: cpu_idle:             state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "rcu_pree-16     12d..2.    39.134806054: cpu_idle:             state=1 cpu_id=5",
	  E, "39134806054 12 16 idle 1" },
	{ "  <idle>-0       5d..1    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "#ab-c:d]-7       5d..1    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 7 idle 1" },
	{ "          <idle>-0     [005]    39.134806: (+4212)  cpu_idle:             state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	/* tracefs: irq-info, none, TGID known and unknown, its old flags */
	{ "          <idle>-0       [005] d..1.    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "          <idle>-0       [005]    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "          <idle>-0       (-------) [005] d..1.    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 0 idle 1" },
	{ "            bash-9816    (   9810) [005] dNh2.    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 9816 idle 1" },
	{ "          <idle>-0     [1005] d..1    39.134806: cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 1005 0 idle 1" },
	/* perf script: pid, pid/tid, a task that is gone, a period */
	{ "         swapper     0 [005]    39.134806054: power:cpu_idle: state=1 cpu_id=5",
	  E, "39134806054 5 0 idle 1" },
	{ "     kworker/0:1    18/19    [005]    39.134806: power:cpu_idle: state=1 cpu_id=5",
	  E, "39134806000 5 19 idle 1" },
	{ "             :-1    -1 [005]    39.134806: power:cpu_idle: state=1",
	  E, "39134806000 5 -1 idle 1" },
	{ "             :-1    -1/-1    [005]    39.134806: power:cpu_idle: state=1",
	  E, "39134806000 5 -1 idle 1" },
	{ "         swapper     0 [005]    39.134806:     250000 cpu-clock:pppH:  ffffffff8144f6e1 foo",
	  E, "39134806000 5 0 other" },
	/* comms made of parts of lines */
	{ "    kworker/15:1-153   [015]    39.136901746: cpu_idle: state=1",
	  E, "39136901746 15 153 idle 1" },
	{ "           <...>-582   [015]    39.135030: cpu_idle: state=1",
	  E, "39135030000 15 582 idle 1" },
	{ "  a b-c-12 [003]-9820  [001]    39.134806: cpu_idle: state=1",
	  E, "39134806000 1 9820 idle 1" },
	{ "  a b-c-12 [003]  9870 [000]    39.134806: power:cpu_idle: state=1",
	  E, "39134806000 0 9870 idle 1" },
	{ " 1 [0] 1.123456: -12   [001]    39.134806: cpu_idle: state=1",
	  E, "39134806000 1 12 idle 1" },
	{ " -1 0d 1.123456: -12   [001]    39.134806: cpu_idle: state=1",
	  E, "39134806000 1 12 idle 1" },
	{ "            init-1     [011]    39.134806: cpu_idle: state=1",
	  E, "39134806000 11 1 idle 1" },
	/* what a task wrote into trace_marker is not an event of its own */
	{ "            bash-9     [011] .....    39.134806: tracing_mark_write:           <idle>-0     [005]    40.000000: cpu_idle: state=1",
	  E, "39134806000 11 9 other" },
	{ "            bash-9     [011]    39.134806: print:                tracing_mark_write: sched_switch: x",
	  E, "39134806000 11 9 other" },
	{ "          <idle>-0       [005] d..1.    39.134806: do_idle <-cpu_startup_entry",
	  E, "39134806000 5 0 other" },
	/* times: the largest, one too large, none */
	{ " a-1 [001] 18446744072.999999999: cpu_idle: state=1",
	  E, "18446744072999999999 1 1 idle 1" },
	NONE(" a-1 [001] 18446744073.999999999: cpu_idle: state=1"),
	NONE(" a-1 [001] 99999999999999999999999.999999: cpu_idle: state=1"),
	NONE(" a-1 [001] 39.13480: cpu_idle: state=1"),
	NONE(" a-1 [001] 39.1348061: cpu_idle: state=1"),
	NONE(" a-1 [001] 39134806: cpu_idle: state=1"),
	NONE(" a-1 [001] .134806: cpu_idle: state=1"),
	NONE(" a-1 [001] -1.134806: cpu_idle: state=1"),
	NONE(" a-1 [01] 1.134806: cpu_idle: state=1"),
	NONE(" a-1 [99999999] 1.134806: cpu_idle: state=1"),
	NONE(" a-4294967296 [001] 1.134806: cpu_idle: state=1"),
	NONE(" a [001] 1.134806: cpu_idle: state=1"),
	/* half lines */
	NONE("0     [005]    39.134806: cpu_idle: state=1 cpu_id=5"),
	NONE("-0     [005]    39.134806: cpu_idle: state=1 cpu_id=5"),
	NONE("  [005]    39.134806: cpu_idle: state=1 cpu_id=5"),
	NONE("5]    39.134806: cpu_idle: state=1 cpu_id=5"),
	NONE("9.134806: cpu_idle: state=1 cpu_id=5"),
	NONE(": cpu_idle: state=1 cpu_id=5"),
	NONE("state=1 cpu_id=5"),
	NONE("          <idle>-0     [005]    39.134806: cpu_id"),
	NONE("          <idle>-0     [005]    39.134806:"),
	NONE("          <idle>-0     [005]    39.134806: "),
	NONE("          <idle>-0     [005]    39.134806: :"),
	NONE("          <idle>-0     [005]    39.134806: a\001b: x"),
	NONE("          <idle>-0     [005]    39.1348"),
	NONE("garbage"),
	NONE("cpus="),
	NONE("cpus=16x"),
	NONE("CPU:5 [LOST 12"),
	NONE("CPU:5 [LOST 12 EVENTS"),
	NONE("CPU:5 [LOST 12 EVENTS] x"),
	NONE("CPU:5 [12 EVENTS]"),
	NONE("CPU:5 [LOST 99999999999999999999 EVENTS]"),
	NONE(" => do_idle"),
	{ "", ILB_TEXT_BLANK, NULL },
	{ " \t ", ILB_TEXT_BLANK, NULL },
	{ "\r", ILB_TEXT_BLANK, NULL },
	{ "#", ILB_TEXT_BLANK, NULL },
	{ "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
	  ILB_TEXT_BLANK, NULL },
	{ "# made by hand:  a-1 [001] 39.134806: cpu_idle: state=1",
	  ILB_TEXT_BLANK, NULL },
	{ "##### CPU 1 buffer started ####", ILB_TEXT_BLANK, NULL },
	{ "# tracer: nop", ILB_TEXT_HEADER, NULL },
	{ "cpus=16", ILB_TEXT_HEADER, NULL },
	{ "version = 6", ILB_TEXT_HEADER, NULL },
	{ "CPU 3 is empty", ILB_TEXT_HEADER, NULL },
	{ "CPU:5 [LOST 123 EVENTS]", ILB_TEXT_LOST, "0 5 -1 lost 123" },
	{ "CPU:5 [LOST EVENTS]", ILB_TEXT_LOST, "0 5 -1 lost 0" },
	{ "CPU:5 [123 EVENTS DROPPED]", ILB_TEXT_LOST, "0 5 -1 lost 123" },
	{ "CPU:12 [EVENTS DROPPED]", ILB_TEXT_LOST, "0 12 -1 lost 0" },
	{ "CPU:5 [LOST 4294967296 EVENTS]", ILB_TEXT_LOST,
	  "0 5 -1 lost 4294967295" },
	{ PERF("PERF_RECORD_LOST lost 7"), ILB_TEXT_LOST,
	  "39134806054 5 -1 lost 7" },
	NONE(PERF("PERF_RECORD_LOST lost")),
};

static const struct line_case events[] = {
	GOOD("sched_switch:         cut:582 [120] Z ==> swapper/15:0 [120]",
	     "switch 582 0 0 swapper/15"),
	GOOD("sched_switch:         swapper/15:0 [120] R ==> kworker/15:1:153 [-1]",
	     "switch 0 153 1 kworker/15:1"),
	GOOD("sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state=R+ ==> next_comm=b c next_pid=4 next_prio=-1",
	     "switch 3 4 1 b c"),
	GOOD("sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state=D|W ==> next_comm=b next_pid=4 next_prio=0",
	     "switch 3 4 0 b"),
	GOOD("sched_switch:  prev_comm=a prev_pid=3 prev_prio=120 prev_state=256 next_comm=b next_pid=4 next_prio=0",
	     "switch 3 4 1 b"),
	GOOD("sched_switch:  prev_comm=a prev_pid=3 prev_prio=120 prev_state=130 next_comm=b next_pid=4 next_prio=0",
	     "switch 3 4 0 b"),
	{ PERF("sched:sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=fifteen_letters next_pid=4 next_prio=0"),
	  E, AT "switch 3 4 0 fifteen_letters" },
	/* comms that imitate what follows them */
	GOOD("sched_switch: prev_comm= ==> next_comm= prev_pid=3 prev_prio=120 prev_state=S ==> next_comm= next_pid=5 n next_pid=4 next_prio=0",
	     "switch 3 4 0  next_pid=5 n"),
	GOOD("sched_switch: prev_comm= prev_pid=9 p prev_pid=3 prev_prio=120 prev_state=S ==> next_comm= next_pid=4 next_prio=0",
	     "switch 3 4 0 "),
	GOOD("sched_switch: a:5 [1] S ==> b:123 [120] R ==> x:1:7 [120]",
	     "switch 123 7 1 x:1"),
	GOOD("sched_switch: a:1:2 [3]:5 [120] S ==> c:1 [2]:6 [120]",
	     "switch 5 6 0 c:1 [2]"),
	GOOD("sched_wakeup:         kworker/15:1:153 [120] CPU:015",
	     "wakeup 153 15"),
	GOOD("sched_wakeup:         a:5 [1] CPU:3:153 [120] success=1 CPU:012",
	     "wakeup 153 12"),
	GOOD("sched_wakeup: comm=a b pid=7 prio=-1 target_cpu=012",
	     "wakeup 7 12"),
	GOOD("sched_wakeup: comm=a pid=7 prio=120 success=1 target_cpu=008",
	     "wakeup 7 8"),
	GOOD("sched_wakeup: comm=a pid=7 prio=120 success=0 target_cpu=008",
	     "other"),
	GOOD("sched_wakeup: a:7 [120] success=0 CPU:008", "other"),
	GOOD("sched_wakeup_new: comm=a pid=7 prio=120 target_cpu=001",
	     "wakeup 7 1"),
	GOOD("sched_wakeup_new: a:7 [120] CPU:001", "wakeup 7 1"),
	{ PERF("sched:sched_wakeup: comm=a b-c-12 [003] pid=9870 prio=120 target_cpu=000"),
	  E, AT "wakeup 9870 0" },
	GOOD("sched_waking:         comm=rcu_preempt pid=16 prio=120 target_cpu=014",
	     "waking 16 14"),
	{ PERF("sched:sched_waking: comm=a b-c-12 [003] pid=9870 prio=120 target_cpu=000"),
	  E, AT "waking 9870 0" },
	GOOD("sched_migrate_task:   comm=lostw pid=422 prio=120 orig_cpu=14 dest_cpu=4",
	     "migrate 422 14 4"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d now=29903 function=tick_nohz_handler/0x0",
	     "tick"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d now=29903 function=tick_sched_timer/0x0",
	     "tick"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d function=tick_nohz_handler now=29903",
	     "tick"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d function=tick_nohz_handler.llvm.77 now=29903",
	     "tick"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d function=tick_nohz_handler2 now=29903",
	     "other"),
	GOOD("hrtimer_expire_entry: hrtimer=0xff3d function=hrtimer_wakeup now=29903",
	     "other"),
	BAD("hrtimer_expire_entry:  hrtimer=0xff3d now=29903 function=0xffffffffa99bfbd0"),
	GOOD("tick_stop:            success=1 dependency=NONE", "tick_stop 1"),
	GOOD("tick_stop:            success=0 dependency=SCHED", "tick_stop 0"),
	GOOD("csd_queue_cpu:        cpu=6 callsite=generic_exec_single+0x35 func=nohz_csd_func csd=0xff",
	     "csd_queue 6 nohz"),
	GOOD("csd_queue_cpu:        cpu=6 callsite=x+0x35 func=flush_tlb_func csd=0xff",
	     "csd_queue 6 -"),
	GOOD("csd_function_entry:   func=sched_ttwu_pending, csd=0xff",
	     "csd_entry ttwu"),
	GOOD("csd_function_entry:   func=nohz_csd_func csd=0xff",
	     "csd_entry nohz"),
	GOOD("csd_function_exit:    func=nohz_csd_func+0x0/0x90 [mod]",
	     "csd_exit nohz"),
	GOOD("csd_function_exit:    func=nohz_csd_func, csd=(nil)",
	     "csd_exit nohz"),
	BAD("csd_function_exit:    func=0xffffffffa99bfbd0 csd=0xff"),
	GOOD("softirq_raise:        vec=7 [action=SCHED]", "raise 7"),
	GOOD("softirq_entry:        vec=1 [action=TIMER]", "entry 1"),
	GOOD("softirq_exit:         vec=9", "exit 9"),
	GOOD("call_function_single_entry: vector=251", "call"),
	GOOD("ipi_entry:            (Function call interrupts)", "call"),
	GOOD("ipi_entry:             reason=Function call interrupts", "call"),
	GOOD("ipi_entry:            (Rescheduling interrupts)", "other"),
	GOOD("cpu_idle:             state=1 cpu_id=5", "idle 1"),
	GOOD("cpu_idle:             state=4294967295 cpu_id=5",
	     "idle 4294967295"),
	GOOD("cpu_idle: state=0xffffffff (-1) cpu_id=0x5 (5)",
	     "idle 4294967295"),
	GOOD("local_timer_entry:    vector=236", "other"),
	GOOD("no_such_event: vec=7", "other"),
	{ PERF("irq:softirq_raise: vec=7 [action=SCHED]"), E, AT "raise 7" },
	{ PERF("other:softirq_raise: vec=7"), E, AT "other" },
	{ PERF("probe:a__b:"), E, AT "other" },
	GOOD("enter_idle:           (ffffffff9e4e78b0) cpu=5 mask=0xaaaa",
	     "p_enter aaaa"),
	GOOD("enter_idle:            __probe_ip=ffffffff9e4e78b0 cpu=5 mask=0xaaaa",
	     "p_enter aaaa"),
	{ PERF("ilb:enter_idle: (ffffffff9e4e78b0) cpu=5 mask=0xaaaa"),
	  E, AT "p_enter aaaa" },
	GOOD("exit_idle:            (ffffffff9e4e77f0) mask=0xffffffffffffffff",
	     "p_exit ffffffffffffffff"),
	GOOD("exit_idle:            (ffffffff9e4e77f0)", "p_exit -"),
	GOOD("trig:                 (ffffffff9e4e7a50) mask=43690", "p_tick aaaa"),
	GOOD("csd_send:             (ffffffff9e560990) cpu=1 func=nohz_csd_func+0x0",
	     "p_send - 1 nohz"),
	GOOD("csd_send:             (ffffffff9e560990) cpu=1 func=__hrtick_start+0x0",
	     "p_send - 1 -"),
	GOOD("csd_func:             (ffffffff9e4ce410)", "p_csd -"),
	GOOD("nohz_ib:              (ffffffff9e4e7380)", "p_pass - 0"),
	GOOD("nohz_ib:              (ffffffff9e4e7380) flags=0x3 mask=0x0",
	     "p_pass 0 3"),
	GOOD("nohz_ib_ret:          (ffffffff9e4e7380 <- ffffffff9e4ed8fa)",
	     "p_pass_end -"),
	/* known, but not readable */
	BAD("sched_switch:"),
	BAD("sched_switch: prev_comm="),
	BAD("sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=b next_pid=4"),
	BAD("sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state= ==> next_comm=b next_pid=4 next_prio=0"),
	BAD("sched_switch: prev_comm=a prev_pid=4294967295 prev_prio=120 prev_state=S ==> next_comm=b next_pid=4 next_prio=0"),
	BAD("sched_switch: prev_comm=a prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=sixteen__letters next_pid=4 next_prio=0"),
	BAD("sched_switch: cut:582 [120] Z ==> swapper/15:0 [1"),
	BAD("sched_wakeup: comm=a pid=7 prio=120 target_cpu="),
	BAD("sched_wakeup: comm=a pid=7 prio=120 success= target_cpu=1"),
	BAD("sched_wakeup: a:7 [120] CPU:"),
	BAD("sched_wakeup: [FAILED TO PARSE] comm=a"),
	BAD("sched_waking: comm=a pid=7 prio=120 target_cpu="),
	BAD("sched_migrate_task: comm=lostw pid=422 prio=120 orig_cpu=14"),
	BAD("tick_stop:"),
	BAD("tick_stop: success=yes"),
	BAD("csd_queue_cpu: func=nohz_csd_func"),
	BAD("csd_queue_cpu: cpu=4294967296 func=nohz_csd_func"),
	BAD("csd_function_entry: func="),
	BAD("softirq_raise: vec=7x"),
	BAD("softirq_raise: vec=-7"),
	BAD("softirq_raise: vec=0x"),
	BAD("softirq_raise: vec=0x100000000"),
	BAD("call_function_single_entry: vec"),
	BAD("ipi_entry:"),
	BAD("cpu_idle: cpu_id=5"),
	BAD("enter_idle: "),
	BAD("enter_idle: (ffffffff9e4e"),
	BAD("trig: (ffffffff9e4e7a50) mask="),
	BAD("trig: (ffffffff9e4e7a50) mask=0x10000000000000000"),
	BAD("csd_send: (ffffffff9e560990) cpu=1"),
	BAD("csd_send: (ffffffff9e560990) func=nohz_csd_func"),
	BAD("nohz_ib: (ffffffff9e4e7380) flags=x"),
};

static void check(const struct line_case *c)
{
	struct ilb_event event;
	char text[SHOW_LEN] = "";
	char copy[512];
	size_t len = strlen(c->line);
	int kind;

	/* To the byte, so that a sanitizer sees what is read beyond. */
	assert_true(len < sizeof(copy));
	memcpy(copy + sizeof(copy) - len, c->line, len);
	memset(&event, 0xa5, sizeof(event));
	kind = ilb_text_line(copy + sizeof(copy) - len, len, &event);
	if (c->event)
		show(text, &event);
	if (kind != c->kind || (c->event && strcmp(text, c->event)))
		fail_msg("'%s': %d '%s', not %d '%s'", c->line, kind, text,
			 c->kind, c->event ? c->event : "");
}

static void heads_are_read_in_each_format(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(heads); i++)
		check(&heads[i]);
}

static void arguments_are_read(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(events); i++)
		check(&events[i]);
}

/* Not possible in a table of strings. */
static void nul_bytes_do_not_end_a_line(void **state)
{
	static const char line[] =
		"       a\0b [ -7 [005] 39.134806: softirq_raise: vec=7\0";
	static const char comm[] =
		"  x-7 [005] 39.134806: sched_switch: a:1 [2] S ==> b\0c:3 [4]";
	struct ilb_event event;
	char text[SHOW_LEN];

	(void)state;
	assert_int_equal(ilb_text_line(line, sizeof(line) - 2, &event), E);
	show(text, &event);
	assert_string_equal(text, "39134806000 5 7 raise 7");
	assert_int_equal(ilb_text_line(line, sizeof(line) - 1, &event),
			 ILB_TEXT_ARGS);
	assert_int_equal(ilb_text_line(comm, sizeof(comm) - 1, &event),
			 ILB_TEXT_ARGS);
}

static int is_of(const char *event, unsigned int type)
{
	size_t len = strlen(show_names[type]);

	return !strncmp(event, show_names[type], len) &&
	       (!event[len] || event[len] == ' ');
}

/* Every kind is in the table, so that none is forgotten. */
static void no_type_is_left_out(void **state)
{
	unsigned int type, i;

	(void)state;
	for (type = 0; type < ILB_EVENT_TYPES; type++) {
		if (type == ILB_EVENT_LOST)
			continue;
		for (i = 0; i < ARRAY_SIZE(events); i++)
			if (is_of(events[i].event + strlen(AT), type))
				break;
		if (i == ARRAY_SIZE(events))
			fail_msg("no line for %s", show_names[type]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_read_in_each_format),
		cmocka_unit_test(arguments_are_read),
		cmocka_unit_test(nul_bytes_do_not_end_a_line),
		cmocka_unit_test(no_type_is_left_out),
	};

	return cmocka_run_group_tests_name("text_line", tests, NULL, NULL);
}
