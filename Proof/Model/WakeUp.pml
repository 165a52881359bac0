/* How a commit in one process reaches the hub of another: events, looks, touches. README.md says what is left out.
 *
 * Mirrors Watcher, LookSchedule, Publication, DirectoryEvents, and Writer, and uses their names.
 *   OtherWriter, OtherToucher   a process with the library, which coalesces its touches
 *   PlainWriter                 a process that does not touch: the sqlite3 shell, or one whose signal fails; for a
 *                               watcher of an older version, which receives only touches, every writer
 *   Writer, OwnToucher          the writer of the store that watches
 *   Watcher                     its Watcher
 * A change set is represented by its number in the log: 1, 2, 3 …
 */
#ifndef OTHER
#define OTHER 2 /* commits of OtherWriter */
#endif
#ifndef PLAIN
#define PLAIN 1 /* commits of PlainWriter */
#endif
#ifndef OWN
#define OWN 1 /* commits of Writer */
#endif

/* CommitEvent. The pending events are a set, because `wait` reads them and keeps the union. inotify's
 * merging of equal events makes no difference to that. If there are many, it leaves some to the next call, as if they had
 * happened later. */
#define WRITTEN 1
#define TOUCHED 2
#define OVERFLOWED 4
#define WOKEN 8
byte events;
#ifdef IGNORES
bool ignoresWrites; /* DirectoryEvents.setReportsWrites(false), under own load; wakes are received all the same */
#endif

inline happen(event) {
  if
#ifdef IGNORES
  :: ignoresWrites
  :: !ignoresWrites -> events = events | event
#else
  :: events = events | event
#endif
#ifdef OVERFLOWS
  :: events = events | OVERFLOWED /* dropped, but the loss is reported */
#endif
#ifdef LOSSY
  :: skip
#endif
  fi
}

/* The database. */
byte head;      /* the last visible set; data_version changes with it */
bool isLocked;  /* SQLite's write lock */
byte untouched; /* writers between their first MODIFY and a visible COMMIT that no touch may follow */
byte writing = 3;

/* Publication. A d_step happens under its lock. */
byte position;
bool isCommitting;
bool hasRefused;
bool hasLock;  /* our writer is between BEGIN IMMEDIATE and COMMIT */
bool owesLook; /* the watcher left a look to our writer, which reads everything after the position anyway */

bool otherOwesTouch;
bool ownOwesTouch;
#ifdef CONTROL_SKIP_BY_POSITION
bool hasTouched; /* we touched since the watcher last read events */
byte ownEnd;     /* the end of our last commit */
#endif
#ifdef CONTROL_OWN_MODIFY
bool hasWritten; /* we wrote since the watcher last read events */
#endif

/* Sets that the hub has are left out. Pump.pml shows that this loses or repeats no other set. */
inline append(through) {
  if
  :: through > position -> position = through
  :: else
  fi
}

active proctype OtherWriter() {
  byte commits;
  do
  :: commits < OTHER ->
    atomic {
      !isLocked -> isLocked = true; /* BEGIN IMMEDIATE */
#ifdef KILLS
      untouched++;
#endif
      happen(WRITTEN) /* the -wal file is written before */
    }
    d_step {         /* the commit is visible */
      head++;
      isLocked = false;
#ifdef KILLS
      untouched--;
#endif
    }
    d_step { otherOwesTouch = true; commits++ }
#ifdef KILLS
  :: commits > 0 -> break
#endif
  :: commits == OTHER -> break
  od;
  writing--
}

/* Touches are coalesced: one touch covers all commits before it. It may be late, but it is not omitted. */
#ifndef CONTROL_NO_TOUCH
active proctype OtherToucher() {
end:
  do
  :: otherOwesTouch ->
#ifndef CONTROL_TOUCH_THEN_CLEAR
     otherOwesTouch = false;
#endif
#ifdef KILLS
     if
     :: break /* killed between COMMIT and touch */
     :: skip
     fi;
#endif
     happen(TOUCHED);
#ifdef CONTROL_TOUCH_THEN_CLEAR
     otherOwesTouch = false;
#endif
#ifdef CONTROL_DROP_LAST_TOUCH
     otherOwesTouch = false; /* drops the touch of a commit that closely follows this touch */
#endif
  od
}
#endif

active proctype PlainWriter() {
  byte commits;
  do
  :: commits < PLAIN ->
    atomic { !isLocked -> isLocked = true; untouched++; happen(WRITTEN) }
    d_step { head++; isLocked = false; untouched--; commits++ }
  :: else -> break
  od;
  writing--
}

/* WriteSession.end and WriteSession.publish. */
active proctype Writer() {
  byte commits, through;
  bool isCommitted, mustWake;
  do
  :: commits < OWN ->
    atomic { !isLocked -> isLocked = true }
    hasLock = true;
    d_step {
      through = head + 1; /* publish: first the sets of foreign writers, then its own */
      isCommitting = true; /* Publication.beginOwnCommit */
#ifndef CONTROL_SKIP_WHILE_COMMITTING
      hasLock = false
#endif
    }
    happen(WRITTEN);
#ifdef CONTROL_OWN_MODIFY
    hasWritten = true;
#endif
    if
    :: d_step { head++; isLocked = false; isCommitted = true }
#ifdef FAILS
    :: d_step { isLocked = false; isCommitted = false }
#endif
    fi;
    if
    :: isCommitted ->
      d_step {
        append(through);
        owesLook = false;
#ifdef CONTROL_SKIP_BY_POSITION
        ownEnd = through;
#endif
        through = 0
      }
      ownOwesTouch = true /* Publication.wakeFollowers */
    :: else
    fi;
    d_step { /* Publication.endOwnCommit */
      isCommitting = false;
      hasLock = false;
      mustWake = hasRefused || owesLook;
      hasRefused = false;
      owesLook = false;
      commits++
    }
    if
#ifndef CONTROL_DROP_REFUSED
    :: mustWake -> d_step { mustWake = false; events = events | WOKEN }
#endif
    :: else
    fi
  :: else -> break
  od;
  writing--
}

active proctype OwnToucher() {
end:
  do
  :: ownOwesTouch ->
     ownOwesTouch = false;
#ifdef CONTROL_SKIP_BY_POSITION
     hasTouched = true;
#endif
     happen(TOUCHED)
  od
}

active proctype Watcher() {
  byte received, dataVersion, through;
  bool isPatient = true; /* LookSchedule: looks are repeated for a while */
#ifdef IGNORES
  byte loads = IGNORES; /* how often it may ignore writes */
#endif
  bool isSettled;
end:
  do
  :: atomic { /* DirectoryEvents.wait: an event, the pause between two looks, or the safety look */
#ifdef SAFETY
       true ->
#else
#ifdef IGNORES
       events != 0 || isPatient || ignoresWrites -> /* if it ignores writes, it looks at intervals */
#else
       events != 0 || isPatient ->
#endif
#endif
       received = events;
#ifndef CONTROL_CLEAR_AFTER_LOOK
       events = 0
#endif
     }
#ifdef CONTROL_SKIP_BY_POSITION
     if
     :: atomic { received == TOUCHED && hasTouched && ownEnd <= position -> hasTouched = false; received = 0 }
        goto end
     :: else
     fi;
#endif
#ifdef CONTROL_OWN_MODIFY
     if
     :: atomic { hasWritten -> hasWritten = false; received = received & (TOUCHED | OVERFLOWED) }
     :: else
     fi;
#endif
#ifdef SKIPS
     if
     :: atomic { hasLock -> owesLook = true; received = 0 }
        goto end
     :: else
     fi;
#endif
     atomic {
       if
#ifndef CONTROL_NO_REPETITION
       :: received & (WRITTEN | OVERFLOWED) -> isPatient = true
#endif
       :: else
       fi;
       received = 0;
       /* The only assumption about time: a commit without a touch is visible within LookSchedule.patience after its
        * write, and a look follows before the patience ends. */
       isSettled = (untouched == 0);
       if
       :: head != dataVersion -> through = head /* the snapshot is taken */
       :: else
       fi
     }
     if
     :: through != 0 ->
       d_step { /* Publication.appendFound */
         if
         :: isCommitting -> hasRefused = true
         :: else -> append(through); dataVersion = through
         fi;
         through = 0
       }
     :: else
     fi;
#ifdef CONTROL_CLEAR_AFTER_LOOK
     events = 0;
#endif
     atomic {
       if
       :: isSettled -> isPatient = false; isSettled = false
       :: isSettled = false
       fi
     }
#ifdef IGNORES
     if
     :: !ignoresWrites && loads > 0 -> loads--; ignoresWrites = true
     :: ignoresWrites -> ignoresWrites = false;
#ifndef CONTROL_LISTENS_WITHOUT_LOOK
        isPatient = true
#endif
     :: skip
     fi
#endif
  od
}

#ifdef SAFETY
ltl everythingArrives { <> (writing == 0 && position == head) }
#else
/* When no process can take a step, so that there will be no other look, everything has arrived. */
active proctype Quiescence() {
  timeout -> assert(position == head)
}
#endif
