// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flags of a kick: kick_ilb() and nohz_csd_func() of Linux 7.3.
 *
 * Two busy CPUs kick a third, which goes busy and idle as it likes. Whoever
 * sets the first flag owns the call descriptor and sends the interrupt; the
 * handler takes all flags in one step, and drops them if its CPU is busy.
 *
 * Holds: the descriptor is never queued while it is under way; a handler
 * always finds flags; every flag is taken by a handler after it was set. One
 * that stays set without an interrupt ends all further kicks of its CPU.
 *
 * Left out, each must be found:
 *  -DNO_CLEAR	2013: a handler that finds its CPU busy leaves the flags set
 *  -DTWO_STEPS	the handler reads the flags and clears them in two steps
 *  -DPLAIN_OR	a kicker reads the flags and sets its own in two steps
 */

#define BALANCE	1
#define STATS	2
#define NEXT	4
#define KICKS	2	/* of each kicker */

byte flags;
byte inbox;		/* interrupts under way */
byte kickers = 2;
bool idle = true;
byte asked;		/* flags set and not taken since */

active [2] proctype kicker()
{
	byte n, old, want;

	do
	:: n < KICKS ->
		if
		:: want = STATS
		:: want = STATS | BALANCE
		:: want = NEXT
		fi;
		n++;
		/* 6.12 on: all of it is under way already. */
		if
		:: (flags & want) == want -> goto next
		:: else
		fi;
#ifdef PLAIN_OR
		old = flags;
		atomic { flags = old | want; asked = asked | want }
#else
		atomic { old = flags; flags = old | want; asked = asked | want }
#endif
		if
		:: old == 0 ->
			atomic { assert(inbox == 0); inbox++ }
		:: else		/* rides along */
		fi;
next:		old = 0;
		want = 0
	:: else -> break
	od;
	kickers--
}

active proctype ilb()
{
	byte old;

end:	do
	:: inbox > 0 ->
		inbox--;
#ifdef NO_CLEAR
		if
		:: !idle -> goto dropped
		:: else
		fi;
#endif
#ifdef TWO_STEPS
		atomic { old = flags; asked = asked & ~old }
		flags = 0;
#else
		atomic { old = flags; flags = 0; asked = asked & ~old }
#endif
		assert(old);
		old = 0;
#ifdef NO_CLEAR
dropped:	skip
#endif
	:: kickers -> idle = !idle
	od
}

/* When nothing can happen any more. */
active proctype judge()
{
	timeout -> assert(flags == 0 && asked == 0)
}
