/* What follows an authorization: reserve a capture, void or refund, ask, post; and recover it.

   Two calls of a merchant, each on a node of its own, and the recovery of both nodes, on one store. They are two
   operations, or one call that is repeated under its idempotency key. Any call may die or pause between two steps, and
   any commit may have an unknown outcome. The acquirer loses requests and answers, delays and doubles requests up to
   its settle horizon, may not answer at all, sends events, and may approve what it declined. docs/model.md says what is
   left out.

   WITHOUT_<RULE> takes one rule out of the protocol. Tests/Model/check.py runs the model with and without each. */

#define LEASE 2    /* Journal.lease */
#ifndef PATIENCE
#define PATIENCE 0 /* PaymentGateway.newHold, GatewayPolicy.answerPatience: less than half of the lease */
#endif
#define SETTLE 2   /* AcquirerCapabilities.settleHorizon */
#define HELD 2     /* what the authorization holds */
#ifndef END
#define END 5      /* when the clock stops */
#endif
#ifndef ROUNDS
#define ROUNDS 1   /* leases that the recovery of one node acquires */
#endif
#ifndef FAULTS
#define FAULTS 3   /* how often something goes wrong */
#endif

mtype = { none, sending, unknown, approved, declined, failed } /* OperationState */
mtype = { capture, void, refund }
mtype = { nothing, done, refused, open } /* what a caller receives */

/* The acquirer's capabilities, chosen at the start. */
bool keepsKeys /* AcquirerCapabilities.idempotency: it repeats its answer to a reference */
bool inquiry
bool counts    /* it declines what is more than is left */
bool sameKey   /* the second call repeats the first */

byte now, faults;
bool works; /* recovery is at work */
bool calls = true; /* the first call is not over */

/* The journal: the payment's balances, its operations, and the idempotency keys. */
byte captured, refunded, reservedCapture, reservedVoid, reservedRefund, voided;
byte before; /* what was captured before, for refunds */
typedef Operation {
  mtype state = none; mtype kind; byte amount; byte fence; byte leaseUntil; byte sentUntil; byte nextTry; bool alarm
}
Operation journal[2];
byte keyTaken[2];             /* idempotency.operation: the operation of the key, and 1 */
mtype keyAnswer[2] = nothing; /* the answer that was kept */
mtype told[2] = nothing;

/* The acquirer. */
byte requests[2]; /* on their way */
byte leftAt[2];
byte moved[2];    /* how often the amount was moved */
mtype decision[2] = none;
mtype event[2] = none; /* an event on its way */
bool changedItsMind;

#define keyOf(c) (sameKey -> 0 : c)
#define isOpen(p) (journal[p].state == sending || journal[p].state == unknown)
#define isFinal(s) (s == approved || s == declined || s == failed)

#ifdef WITHOUT_RESERVATION
#define free (HELD - voided - captured)
#define refundable (captured - refunded)
#else
#define free (HELD - voided - captured - reservedCapture - reservedVoid) /* Balances.free */
#define refundable (captured - refunded - reservedRefund)                /* Balances.refundable */
#endif
#define fits(p) (journal[p].kind == refund -> refundable >= journal[p].amount : free >= journal[p].amount)

inline reserve(p) { /* Posting.reserve */
  if
  :: journal[p].kind == capture -> reservedCapture = reservedCapture + journal[p].amount
  :: journal[p].kind == void -> reservedVoid = reservedVoid + journal[p].amount
  :: journal[p].kind == refund -> reservedRefund = reservedRefund + journal[p].amount
  fi
}
inline release(p) { /* Posting.release */
  if
  :: journal[p].kind == capture -> reservedCapture = reservedCapture - journal[p].amount
  :: journal[p].kind == void -> reservedVoid = reservedVoid - journal[p].amount
  :: journal[p].kind == refund -> reservedRefund = reservedRefund - journal[p].amount
  fi
}
inline move(p) { /* Posting.approve */
  if
  :: journal[p].kind == capture -> captured = captured + journal[p].amount
  :: journal[p].kind == void -> voided = voided + journal[p].amount
  :: journal[p].kind == refund -> refunded = refunded + journal[p].amount
  fi
}

/* Journal.posted: drops what has an answer or another holder. */
inline post(p, fence_, answer) {
  if
#ifdef WITHOUT_FENCE
  :: isOpen(p) ->
#else
  :: isOpen(p) && journal[p].fence == fence_ ->
#endif
    if
#ifdef WITHOUT_KEPT_RESERVATION
    :: answer == unknown && journal[p].state == sending -> release(p)
    :: answer == unknown && journal[p].state == unknown
    :: isFinal(answer) && journal[p].state == unknown
    :: isFinal(answer) && journal[p].state == sending -> release(p)
#else
    :: answer == unknown
#ifdef WITHOUT_RELEASE
    :: answer == declined || answer == failed
    :: answer == approved -> release(p)
#else
    :: isFinal(answer) -> release(p)
#endif
#endif
    fi;
    if :: answer == approved -> move(p) :: else fi;
    journal[p].state = answer; journal[p].leaseUntil = 0; journal[p].nextTry = now + 1;
    if :: isFinal(answer) -> journal[p].nextTry = 0; journal[p].sentUntil = 0
       :: else -> journal[p].sentUntil = now fi
  :: else
  fi
}

#define meaning(s) (s == approved -> done : (s == declined || s == failed -> refused : open))

/* Journal.firstOutcome: the first final outcome stays the answer; an open one does not. */
inline keep(caller, its) {
  if
#ifdef WITHOUT_FINAL_ANSWER
  :: keyAnswer[keyOf(caller)] == nothing -> keyAnswer[keyOf(caller)] = meaning(journal[its].state)
#else
  :: keyAnswer[keyOf(caller)] == nothing && isFinal(journal[its].state) -> keyAnswer[keyOf(caller)] = meaning(journal[its].state)
#endif
  :: else
  fi
}

/* The caller receives the key's answer, or how far its operation has come. */
inline tell(caller, its) {
  if :: keyAnswer[keyOf(caller)] != nothing -> told[caller] = keyAnswer[keyOf(caller)]
     :: else -> told[caller] = meaning(journal[its].state) fi;
  printf("The caller of call %d receives %e.\n", caller, told[caller])
}

inline send(p) {
#ifdef WITHOUT_SENT_IN_TIME
  requests[p]++; leftAt[p] = now; sent = true
#else
  if :: now <= deadline -> requests[p]++; leftAt[p] = now; sent = true :: else fi
#endif
}

/* An answer does not come: of a request that was lost, or by another fault. */
#define wasLost(p) (decision[p] == none && requests[p] == 0)
#define mayBeSilent(p) (wasLost(p) || faults < FAULTS)
inline silence(p) { if :: wasLost(p) :: else -> faults++ fi }

inline insert(c) { /* Journal.reserve and IdempotencyKeys.begin */
  reserve(c);
  journal[c].state = sending; journal[c].fence = 1;
#ifdef WITHOUT_LEASED_OPERATION
  journal[c].leaseUntil = now; journal[c].sentUntil = now; journal[c].nextTry = now;
#else
  journal[c].leaseUntil = now + LEASE; journal[c].sentUntil = now + LEASE; journal[c].nextTry = now + LEASE;
#endif
  if :: keyTaken[keyOf(c)] == 0 -> keyTaken[keyOf(c)] = c + 1 :: else fi
}

/* ---- the merchant's call: PaymentGateway.perform(_:under:) ---- */

proctype Call(byte c) {
  byte deadline, p; bool sent, refusedHere; mtype answer = unknown;
  atomic {
    deadline = now + PATIENCE;
    if :: keyTaken[keyOf(c)] > 0 -> goto replay :: else fi
#ifdef WITHOUT_DURABLE_OPERATION
    ; send(c); printf("%d: Call %d asks the acquirer before its operation is durable.\n", now, c)
#endif
#ifdef WITHOUT_PAYMENT_LOCK
    ; refusedHere = !fits(c) /* what was read before the payment was locked */
#endif
  };
  atomic {
#ifndef WITHOUT_PAYMENT_LOCK
    refusedHere = !fits(c);
#endif
    if
#ifndef WITHOUT_KEY_ONCE
    :: keyTaken[keyOf(c)] > 0 -> goto replay /* KeyTaken */
#endif
    :: else ->
       if
       :: refusedHere -> printf("%d: Call %d is refused: too little is left.\n", now, c); goto over
       :: else ->
          if
          :: insert(c); printf("%d: Call %d reserves %d for a %e.\n", now, c, journal[c].amount, journal[c].kind)
          :: faults < FAULTS -> faults++;
             printf("%d: The commit of call %d's reservation is lost, and its outcome is unknown.\n", now, c);
#ifndef WITHOUT_DOUBTFUL_RESERVATION
             goto over
#endif
          :: faults < FAULTS -> faults++; insert(c);
             printf("%d: Call %d reserves, and the outcome of its commit is unknown.\n", now, c);
#ifndef WITHOUT_DOUBTFUL_RESERVATION
             goto over
#endif
          fi
       fi
    fi
  };
  if
  :: atomic { faults < FAULTS -> faults++; printf("%d: Call %d dies before it asks.\n", now, c); goto over }
  :: skip
  fi;
#ifndef WITHOUT_DURABLE_OPERATION
  atomic {
    send(c);
    if :: sent -> printf("%d: The request of call %d leaves.\n", now, c)
       :: else -> printf("%d: The deadline of call %d has passed: nothing is sent.\n", now, c); answer = failed fi
  };
#endif
  if
  :: atomic { sent && decision[c] != none -> answer = decision[c];
              printf("%d: Call %d receives that it is %e.\n", now, c, answer) }
  :: atomic { sent && mayBeSilent(c) -> silence(c); printf("%d: The answer to call %d does not come.\n", now, c) }
  :: atomic { !sent -> skip }
  :: atomic { faults < FAULTS -> faults++; printf("%d: Call %d dies while it waits.\n", now, c); goto over }
  fi;
  atomic { /* PaymentGateway.record: one commit, written again until its outcome is known. */
    post(c, 1, answer); keep(c, c); printf("%d: Call %d records %e.\n", now, c, answer); tell(c, c)
  };
  goto over;
replay:
  atomic {
    p = keyTaken[keyOf(c)] - 1;
    if
    :: keyAnswer[keyOf(c)] != nothing || journal[p].leaseUntil <= now -> keep(c, p); tell(c, p)
    :: else -> printf("%d: Call %d is told that the first call is running.\n", now, c)
    fi
  };
over: skip; d_step { if :: c == 0 -> calls = false :: else fi; deadline = 0; p = 0; sent = false;
                refusedHere = false; answer = 0 }
}

/* ---- recovery: PaymentGateway.resolve ---- */

#define isDue(p) (isOpen(p) && journal[p].leaseUntil <= now && journal[p].nextTry <= now)

#ifdef WITHOUT_NOT_FOUND_YET
#define PASSED(since) true
#else
#define PASSED(since) (leasedAt >= (since) + SETTLE) /* Attempt.isSilent */
#endif
#ifdef WITHOUT_REPEAT
#define mayRepeat true
#else
#define mayRepeat keepsKeys /* Attempt.mayRepeat */
#endif

inline leave(p) { /* PaymentGateway.leave */
  if
  :: isOpen(p) && journal[p].fence == fence ->
     journal[p].leaseUntil = 0; journal[p].nextTry = now + 1;
     if :: !sent -> journal[p].sentUntil = pastSent :: else -> journal[p].sentUntil = now fi
  :: else
  fi
}

proctype Recovery(byte n) {
  byte p, fence, pastSent, leasedAt, deadline, rounds; bool sent; mtype answer;
end:
  do
  :: atomic {
#ifdef WITHOUT_RECOVERY
       false;
#endif
       rounds < ROUNDS && (isDue(0) || isDue(1));
       if :: isDue(0) -> p = 0 :: isDue(1) -> p = 1 fi;
       journal[p].fence++; fence = journal[p].fence; pastSent = journal[p].sentUntil;
       journal[p].leaseUntil = now + LEASE; journal[p].sentUntil = now + LEASE;
       rounds++; works = true; leasedAt = now; deadline = now + PATIENCE;
       printf("%d: Recovery on node %d leases operation %d.\n", now, n, p)
     };
     if
     :: inquiry ->
        atomic {
          if
          :: now > deadline -> leave(p); goto next
          :: now <= deadline && decision[p] != none -> answer = decision[p]
          :: now <= deadline && decision[p] == none -> answer = none
          :: now <= deadline && faults < FAULTS -> faults++; answer = unknown
          fi;
          printf("%d: Node %d inquires about operation %d: %e.\n", now, n, p, answer)
        };
        atomic { /* RecoveryAction.Finding */
          if
          :: isFinal(answer) ->
             post(p, fence, answer); printf("%d: Node %d records %e.\n", now, n, answer); goto next
          :: answer == none && PASSED(pastSent) && mayRepeat -> goto again
          :: answer == none && PASSED(pastSent) && !mayRepeat ->
             post(p, fence, failed); printf("%d: Node %d records that it never arrived.\n", now, n); goto next
          :: else -> leave(p); goto next
          fi
        }
     :: !inquiry && mayRepeat -> skip
     :: !inquiry && !mayRepeat -> /* Only an operator can find out, or an event. */
        atomic { journal[p].alarm = true; leave(p); goto next }
     fi;
again:
     atomic {
       send(p);
       if :: sent -> printf("%d: Node %d sends operation %d again.\n", now, n, p) :: else -> leave(p); goto next fi
     };
     if
     :: atomic { decision[p] != none -> answer = decision[p];
                 printf("%d: Node %d receives that it is %e.\n", now, n, answer) }
     :: atomic { mayBeSilent(p) -> silence(p); answer = unknown; printf("%d: The answer to node %d does not come.\n", now, n) }
     fi;
     atomic { post(p, fence, answer); printf("%d: Node %d records %e.\n", now, n, answer) };
next: skip; d_step { works = false; p = 0; fence = 0; pastSent = 0; leasedAt = 0;
                deadline = 0; sent = false; answer = 0 }
  od
}

/* ---- the acquirer and the network ---- */

/* Of kind k, what operation q has moved. */
#define part(q, k) (journal[q].kind == k -> moved[q] * journal[q].amount : 0)
#define theirs(k) (part(0, k) + part(1, k))
#define enough(p) \
  (journal[p].kind == refund -> theirs(refund) + journal[p].amount <= before : \
   before + theirs(capture) + theirs(void) + journal[p].amount <= HELD)

inline arrive(p) {
  if
  :: decision[p] == none && (!counts || enough(p)) ->
     decision[p] = approved; moved[p]++; printf("%d: The acquirer does operation %d.\n", now, p);
     if :: event[p] = approved :: skip fi
  :: decision[p] == none -> decision[p] = declined; printf("%d: The acquirer declines operation %d.\n", now, p)
  :: decision[p] != none && keepsKeys -> printf("%d: The acquirer repeats its answer for operation %d.\n", now, p)
  :: decision[p] == approved && !keepsKeys -> moved[p]++; printf("%d: The acquirer does operation %d again.\n", now, p)
  :: decision[p] == declined && !keepsKeys -> skip
  fi
}

proctype Acquirer() {
  byte p;
end:
  do
  :: atomic { (requests[0] > 0 || requests[1] > 0) ->
       if :: requests[0] > 0 -> p = 0 :: requests[1] > 0 -> p = 1 fi;
       if
       :: requests[p]--; arrive(p)
       :: keepsKeys && faults < FAULTS -> faults++; arrive(p) /* a copy of it */
       :: faults < FAULTS -> faults++; requests[p]--; printf("%d: The request of operation %d is lost.\n", now, p)
       fi;
       if :: requests[p] == 0 -> leftAt[p] = 0 :: else fi; p = 0 }
  :: atomic { !changedItsMind && counts && decision[0] == declined && enough(0) && requests[1] == 0 && !isOpen(1) ->
       changedItsMind = true; decision[0] = approved; moved[0]++; event[0] = approved;
       printf("%d: The acquirer does operation 0 after it declined it.\n", now) }
  :: atomic { (event[0] != none || event[1] != none) -> /* Inbox */
       if :: event[0] != none -> p = 0 :: event[1] != none -> p = 1 fi;
       event[p] = none;
       if
       :: isOpen(p) -> journal[p].fence++; post(p, journal[p].fence, approved)
       :: !isOpen(p) && (journal[p].state == declined || journal[p].state == failed) ->
#ifndef WITHOUT_LATE_APPROVAL
          if :: fits(p) -> journal[p].state = approved; move(p) :: else fi; /* Journal.approveLate */
          journal[p].alarm = true
#else
          skip
#endif
       :: else
       fi;
       printf("%d: The event of operation %d arrives.\n", now, p); p = 0 }
  od
}

/* A request arrives within the settle horizon, or never. */
#define arrived(p) (requests[p] == 0 || now + 1 < leftAt[p] + SETTLE)

#define isLate (works || calls || isDue(0)) /* recovery has something to do */

proctype Clock() {
end:
  do
#ifdef QUIET /* A pause is a fault too. */
  :: atomic { now < END && arrived(0) && arrived(1) && (!isLate || faults < FAULTS) ->
       if :: isLate -> faults++ :: else fi; now++ }
#else
  :: atomic { now < END && arrived(0) && arrived(1) -> now++ }
#endif
  od
}

/* ---- the invariants of docs/reliability.md ---- */

#define isOver(p) (!isOpen(p) && event[p] == none && !journal[p].alarm)
#define I3(p) !(isOver(p) && requests[p] == 0 && moved[p] != (journal[p].state == approved -> 1 : 0)) && moved[p] < 2
#define I4 (captured + reservedCapture + reservedVoid + voided <= HELD && refunded + reservedRefund <= captured && \
  before + theirs(capture) + theirs(void) <= HELD && theirs(refund) <= before)
#define I8 !(sameKey && (journal[0].state != none && journal[1].state != none || \
  (told[0] == done && told[1] == refused || told[0] == refused && told[1] == done) && !journal[0].alarm)) && \
  keyAnswer[0] != open && keyAnswer[1] != open
#define its(c) (sameKey && keyTaken[0] > 0 -> keyTaken[0] - 1 : c)
#define I7(c) !(told[c] == done && journal[its(c)].state != approved)
#define reserved(k) ((isOpen(0) && journal[0].kind == k -> journal[0].amount : 0) + \
  (isOpen(1) && journal[1].kind == k -> journal[1].amount : 0))
#define I10 (reservedCapture == reserved(capture) && reservedVoid == reserved(void) && reservedRefund == reserved(refund))

proctype Invariants() {
end:
  atomic {
    !(I3(0) && I3(1) && I4 && I7(0) && I7(1) && I8 && I10);
    if :: !(I3(0) && I3(1)) -> printf("Violated: I3, the journal and the acquirer differ about an operation.\n") :: else fi;
    if :: !(I4) -> printf("Violated: I4, more is taken or given back than there is.\n") :: else fi;
    if :: !(I7(0) && I7(1)) -> printf("Violated: I7, a caller received that it is done, and the journal does not have it.\n") :: else fi;
    if :: !(I8) -> printf("Violated: I8, a key has two operations, two answers, or the answer that its outcome is open.\n") :: else fi;
    if :: !(I10) -> printf("Violated: I10, something is reserved for no open operation, or is not for an open one.\n") :: else fi;
    assert(false)
  }
}

#ifdef QUIET
/* Nothing more can happen, and time enough has passed. */
proctype AtTheEnd() {
  atomic {
    timeout;
    if
    :: isOpen(0) && !journal[0].alarm -> printf("Violated: I10, an operation stays open when the faults have stopped.\n"); assert(false)
    :: else
    fi
  }
}
#endif

init {
  atomic {
    if :: keepsKeys = true :: keepsKeys = false fi;
#if defined(ONE_NODE) && !defined(QUIET)
    inquiry = true;
#else
    if :: inquiry = true :: inquiry = false fi;
#endif
#ifdef SAME_KEY
    sameKey = true;
#endif
#ifdef ONE_CALL /* Whatever it is, it is alone. */
    counts = true; journal[0].kind = capture; journal[0].amount = HELD;
#else
    if :: counts = true :: counts = false fi;
    if
    :: journal[0].kind = capture; journal[1].kind = capture
    :: journal[0].kind = capture; journal[1].kind = void
    :: journal[0].kind = refund; journal[1].kind = refund; captured = HELD; before = HELD
    fi;
    if :: journal[0].amount = HELD; journal[1].amount = HELD :: journal[0].amount = 1; journal[1].amount = 1 fi;
    if :: sameKey -> journal[1].kind = journal[0].kind :: else fi;
#endif
    printf("Acquirer: keeps keys %d, inquiry %d, counts %d. Operations of %d: %e and %e.\n", keepsKeys, inquiry, counts, journal[0].amount, journal[0].kind, journal[1].kind);
    run Invariants(); run Acquirer(); run Clock(); run Call(0);
#ifndef ONE_CALL
    run Call(1);
#endif
    run Recovery(0);
#ifndef ONE_NODE
    run Recovery(1);
#endif
#ifdef QUIET
    run AtTheEnd()
#endif
  }
}
