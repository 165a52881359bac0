/* How committed sets become calls of listeners: two pumps append to one queue, and any thread delivers. README.md says
 * what is left out.
 *
 * Mirrors Writer, Publication, RoundQueue, ListenerHub, DeliveryThread, and Watcher, and uses their names.
 *   WriterThread     a thread that writes and delivers
 *   WatcherThread    the Watcher of store 0: appends and delivers what ForeignWriter commits
 *   Closer           a thread that closes store 0
 * ListenerHub.deliver is `take` for a thread that runs no listener, and `takeDeferred`, deferred to the end of the round,
 * for a thread that runs one. A change set is represented by its number in the log: 1, 2, 3 … A ticket is a number from 1,
 * and 0 is nil. A d_step or an atomic happens under a lock.
 */
#ifndef WRITERS
#define WRITERS 2 /* threads that write, to store 0, 1, 0 … in turn */
#endif
#ifndef WRITES
#define WRITES 1 /* of each of them */
#endif
#ifndef FOREIGN
#define FOREIGN 1 /* commits by another process to store 0 */
#endif
#ifndef ANSWERS
#define ANSWERS 1 /* writes by the listeners of each store */
#endif
#ifndef STORES
#define STORES 1
#endif
#define THREADS (WRITERS + 2)
#define WATCHER WRITERS
#define CLOSER (WRITERS + 1)
#define END 255
#define ITEMS 8

typedef Store {
  bool isLent;   /* SessionPool: the writing session */
  bool isClosed; /* SessionPool */
  bool isLocked; /* SQLite's write lock */
  byte head;     /* the last visible set */
  /* Publication */
  byte position;
  bool isCommitting;
  /* RoundQueue */
  byte items[ITEMS];
  byte lastTicket;
  byte taken;
  byte lastDelivered;
  bool hasDeliverer;
  byte waiters[THREADS]; /* a thread's ticket */
  /* ListenerHub */
  bool isOver;
  /* The last set that the listeners of the store received, and how often they will still write. */
  byte received;
  byte answers;
}
Store stores[STORES];
bool woken[THREADS]; /* Parker */
bool isStopped;      /* Watcher */
bool hasEnded;       /* the end of Watcher.thread */
bool isShut;         /* close() has returned */
byte returned;       /* writers whose writes have all returned */
byte foreignLeft = FOREIGN;

#define S stores[s]

/* Publication.append: the sets from+1 … through, without those that the hub has. */
inline append(s, from, through, ticket) {
  d_step {
    ticket = 0;
    k = from + 1;
    do
    :: k <= through ->
       if
#ifdef CONTROL_NO_COMPARISON
       :: true ->
#else
       :: k > S.position ->
#endif
          S.lastTicket++;
          S.items[S.lastTicket] = k;
          S.position = k;
          ticket = S.lastTicket
       :: else
       fi;
       k++
    :: else -> break
    od;
    k = 0
  }
}

/* WriteSession.end. If the store is closed, `set` is 0 and nothing happens. */
inline commit(s, set, ticket) {
  atomic {
    !S.isLent || S.isClosed ->
    if
    :: S.isClosed -> set = 0
    :: else -> S.isLent = true; set = END
    fi
  }
  if
  :: set != 0 ->
     atomic { !S.isLocked -> S.isLocked = true } /* BEGIN IMMEDIATE */
#ifndef CONTROL_NOT_REFUSED
     S.isCommitting = true; /* beginOwnCommit */
#endif
     from = S.position; /* publish */
     d_step { S.head++; set = S.head; S.isLocked = false }
     append(s, from, set, ticket);
     d_step { from = 0; S.isCommitting = false } /* endOwnCommit */
     S.isLent = false
  :: else
  fi
}

/* A listener: it may write, to its own store or to the other one. */
inline call(s, item) {
  if
  :: item == END -> S.isOver = true
  :: item != END && !S.isOver ->
     assert(item == S.received + 1);
     assert(!isShut || s != 0);
     if
     :: S.answers > 0 ->
        d_step { S.answers--; there = STORES - 1 - s }
        commit(there, answer, answerTicket);
        /* ListenerHub.deliver: the deliverer of this hub will reach the new item anyway. */
        d_step {
          if
          :: answer != 0 && !(hubs & (1 << there)) -> deferred = deferred | (1 << there)
          :: else
          fi;
          answer = 0;
          answerTicket = 0;
          there = 0
        }
#ifdef CLOSES_INSIDE
     :: s == 0 && !S.isClosed -> /* close(), which does not wait here */
        isStopped = true;
        S.isClosed = true;
        d_step {
          S.lastTicket++;
          S.items[S.lastTicket] = END;
          if
          :: !(hubs & 1) -> deferred = deferred | 1
          :: else
          fi
        }
#endif
     :: else
     fi;
     S.received = item
  :: else
  fi
}

/* RoundQueue.enter: `entrance` is deliver, wait, or leave. */
mtype = { deliver, wait, leave };
inline enter(s, ticket, entrance) {
  d_step {
    if
    :: ticket != 0 && ticket <= S.lastDelivered -> entrance = leave
    :: else ->
       if
       :: !S.hasDeliverer && S.taken == S.lastTicket -> entrance = leave
       :: !S.hasDeliverer && S.taken < S.lastTicket -> S.hasDeliverer = true; entrance = deliver
       :: S.hasDeliverer && ticket == 0 -> entrance = leave
       :: S.hasDeliverer && ticket != 0 -> S.waiters[me] = ticket; entrance = wait
       fi
    fi
  }
}

/* RoundQueue.next, and the wake-ups that follow. The heir is the thread that waited longest; here it may be any. */
inline next(s, isFirst, ticket, item) {
  atomic {
    assert(S.hasDeliverer);
    if
    :: !isFirst -> S.lastDelivered++
    :: else
    fi;
    isFirst = false;
    k = 0;
    hasHeir = false;
    do
    :: k < THREADS ->
       if
       :: S.waiters[k] != 0 && S.waiters[k] <= S.lastDelivered -> S.waiters[k] = 0; woken[k] = true
       :: S.waiters[k] > S.lastDelivered -> hasHeir = true
       :: else
       fi;
       k++
    :: else -> break
    od;
    k = 0;
    if
    :: hasHeir && (ticket == 0 || ticket <= S.lastDelivered) ->
#ifndef CONTROL_NO_HEIR
       if
       :: S.waiters[0] != 0 -> k = 0
       :: S.waiters[1] != 0 -> k = 1
       :: S.waiters[2] != 0 -> k = 2
#if THREADS > 3
       :: S.waiters[3] != 0 -> k = 3
#endif
       fi;
       S.waiters[k] = 0;
       woken[k] = true;
       k = 0;
#endif
       S.hasDeliverer = false;
       item = 0
    :: else ->
       if
       :: S.taken < S.lastTicket -> S.taken++; item = S.items[S.taken]
       :: else -> S.hasDeliverer = false; item = 0
       fi
    fi;
    hasHeir = false
  }
}

/* ListenerHub.take and drain, without a ticket, by a thread that delivers for another hub or has delivered its own sets. */
#ifdef CONTROL_WAITS_INSIDE
#define NO_TICKET stores[target].lastTicket
#else
#define NO_TICKET 0
#endif
inline takeDeferred(s) {
  do
  :: enter(s, NO_TICKET, inner);
     if
     :: inner == deliver ->
        hubs = hubs | (1 << s);
        isFirst = true;
        do
        :: next(s, isFirst, 0, innerItem);
           if
           :: innerItem == 0 -> break
           :: else -> call(s, innerItem)
           fi
        od;
        hubs = hubs & ~(1 << s);
#ifndef CONTROL_TAKES_BACK
        break
#endif
#ifdef CONTROL_WAITS_INSIDE
     :: inner == wait -> atomic { woken[me] -> woken[me] = false }
     :: inner == leave -> break
#else
     :: else -> break
#endif
     fi
  od;
  inner = 0
}

/* DeliveryThread.runDeferred */
inline runDeferred() {
  do
  :: deferred != 0 ->
     d_step {
       target = (deferred & 1 -> 0 : STORES - 1);
       deferred = deferred & ~(1 << target)
     }
     takeDeferred(target);
     target = 0
  :: else -> break
  od
}

/* ListenerHub.take and drain, by a thread that runs no listener. It enters and takes its first item under one lock. Here
 * these are two steps, which allow all the orders of one. */
inline take(s, ticket) {
  do
  :: enter(s, ticket, entrance);
     if
     :: entrance == leave -> break
     :: entrance == wait -> atomic { woken[me] -> woken[me] = false }
     :: entrance == deliver ->
        hubs = 1 << s;
        isOuterFirst = true;
        do
        :: next(s, isOuterFirst, ticket, item);
           if
           :: item == 0 -> break
           :: else -> call(s, item); runDeferred()
           fi
        od;
        hubs = 0;
#ifndef CONTROL_TAKES_BACK
        break
#endif
     fi
  od;
  entrance = 0
}

#define LOCALS \
  byte k, from, answer, answerTicket, there, item, innerItem, hubs, deferred, target, ticket; \
  bool isFirst, isOuterFirst, hasHeir; \
  mtype entrance, inner

proctype WriterThread(byte me; byte s) {
  LOCALS;
  byte set, writes;
  do
  :: writes < WRITES ->
     commit(s, set, ticket);
     writes++;
     if
     :: set == 0 -> break
     :: else ->
        take(s, ticket);
        assert(deferred == 0);
        assert(S.received >= set || S.isOver);
        ticket = 0;
        set = 0
     fi
  :: else -> break
  od;
  returned++
}

proctype ForeignWriter(byte s) {
  do
  :: foreignLeft > 0 -> atomic { !S.isLocked -> S.head++; foreignLeft-- }
  :: else -> break
  od
}

/* WakeUp.pml shows that a look follows each commit. */
proctype WatcherThread(byte me; byte s) {
  LOCALS;
  byte through;
end:
  do
  :: isStopped -> break
  :: S.head > S.position && !isStopped ->
     from = S.position;
     through = S.head;
     if
     :: atomic { S.isCommitting -> from = 0; through = 0 } /* the find is refused */
     :: !S.isCommitting ->
        append(s, from, through, ticket);
        d_step { from = 0; through = 0 }
        take(s, ticket);
        assert(deferred == 0);
        ticket = 0
     fi
  od;
  hasEnded = true
}

#ifdef CLOSES
proctype Closer(byte me; byte s) {
  LOCALS;
  isStopped = true;
  hasEnded; /* Watcher.join */
  S.isClosed = true;
  d_step {
    S.lastTicket++;
    S.items[S.lastTicket] = END;
    ticket = S.lastTicket
  }
  take(s, ticket);
  assert(deferred == 0);
  isShut = true
}
#endif

init {
  byte n;
  atomic {
    do
    :: n < STORES -> stores[n].answers = ANSWERS; n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < WRITERS -> run WriterThread(n, n % STORES); n++
    :: else -> break
    od;
#if FOREIGN
    run ForeignWriter(0);
#endif
    run WatcherThread(WATCHER, 0);
#ifdef CLOSES
    run Closer(CLOSER, 0);
#endif
  }
  timeout ->
  n = 0;
  do
  :: n < STORES ->
     assert(stores[n].received == stores[n].head || stores[n].isClosed);
     assert(stores[n].taken == stores[n].lastTicket);
     n++
  :: else -> break
  od
}

#ifdef LIVE
ltl everyWriteReturns { <> (returned == WRITERS) }
#endif
