// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mask and what goes with it: nohz_balance_enter_idle() against
 * _nohz_idle_balance() of Linux 7.3, with the ticks that kick in between.
 *
 * A CPU enters idle whose next_balance is earlier than nohz.next_balance, and
 * whose blocked load has to decay. A busy CPU ticks, before and after; full
 * balancing is not due at any of its ticks. The ILB passes over the mask as
 * it is kicked, and may have to abort.
 *
 * Holds: one tick after both are done, the ILB has been told of the earlier
 * next_balance (report 31), and once blocked load is due, of the load: the
 * entering CPU is seen in the mask, or the flag that it sets afterwards is.
 *
 * Left out, each must be found:
 *  -DNO_NEXT	2021: no tick kicks for needs_update
 *  -DEARLY_LOOK	the ILB looks at the mask before it clears the flags
 *  -DEARLY_FLAG	the CPU sets the flags before it is in the mask
 *  -DNO_REARM	a pass that is aborted does not set the flags again
 */

#define STATS	2
#define NEXT	4
#define TICKS	2	/* while the CPU may be entering */
#define EARLY	1
#define LATE	2

bool in_mask;
bool needs_update = true;	/* as other CPUs entered before */
bool has_blocked = true;
byte next_balance = LATE;
bool blocked_known;	/* a pass refreshed the CPU's blocked load */
bool entered;

byte kick;		/* flags under way; see kick.pml for their protocol */
byte running;		/* flags of the pass at work */
bool quiet;		/* from here on no pass is aborted */

active proctype enter()
{
#ifdef EARLY_FLAG
	needs_update = true;
	has_blocked = true;
	in_mask = true;
#else
	in_mask = true;
	/* Full barrier. */
	needs_update = true;
	has_blocked = true;
#endif
	entered = true
}

active proctype ilb()
{
	bool seen;

end:	do
	:: atomic { kick -> running = kick; kick = 0 }
#ifdef EARLY_LOOK
		seen = in_mask;
#endif
		if
		:: running & STATS -> has_blocked = false
		:: else
		fi;
		if
		:: running & NEXT -> needs_update = false
		:: else
		fi;
#ifndef EARLY_LOOK
		/* Full barrier. */
		seen = in_mask;
#endif
		if
		:: !seen
		:: seen ->
			if
			:: running & STATS -> blocked_known = true
			:: else
			fi;
			/* Whatever it was kicked for. */
			next_balance = EARLY
		:: !quiet ->	/* need_resched() */
#ifndef NO_REARM
			if
			:: running & NEXT -> needs_update = true
			:: else
			fi;
			if
			:: running & STATS -> has_blocked = true
			:: else
			fi;
#endif
			skip
		fi;
		seen = false;
		running = 0
	od
}

/* nohz_balancer_kick(), with the time gate closed. */
inline tick(blocked_is_due)
{
	want = 0;
	if
	:: has_blocked && blocked_is_due -> want = STATS
	:: else
	fi;
#ifndef NO_NEXT
	if
	:: needs_update -> want = want | NEXT
	:: else
	fi;
#endif
	kick = kick | want
}

active proctype busy()
{
	byte n, want;
	bool due;

	do
	:: n < TICKS ->
		if
		:: due = true
		:: due = false
		fi;
		tick(due);
		n++
	:: break
	od;
	(entered && !kick && !running);
	quiet = true;
	tick(false);
	(!kick && !running);
	assert(next_balance == EARLY);
	tick(true);
	(!kick && !running);
	assert(blocked_known)
}
