/* The authorization of a payment: claim, ask, record, recover.

   Two calls of shoppers, each on a node of its own, and the recovery of both nodes, on one store. Any call may die or
   pause between two steps, and any commit may have an unknown outcome. The acquirer loses requests and answers, delays
   them up to its settle horizon, approves late, and may not answer at all. docs/model.md says what is left out.

   WITHOUT_<RULE> takes one rule out of the protocol. Tests/Model/check.py runs the model with and without each. */

#define LEASE 2    /* Journal.lease */
#ifndef PATIENCE
#define PATIENCE 0 /* GatewayPolicy.answerPatience and PaymentGateway.newHold: less than half of the lease: what is asked is asked at once */
#endif
#define SETTLE 2   /* AcquirerCapabilities.settleHorizon */
#ifndef END
#define END 5 /* when the clock stops */
#endif
#ifndef ROUNDS
#define ROUNDS 1 /* leases that the recovery of one node acquires */
#endif
#define AHEAD 4 /* by how much a clock is wrong: more than lease and settle horizon together */

#ifdef WITHOUT_SETTLE_HORIZON
#define PASSED(since) true
#else
#define PASSED(since) (leasedAt >= (since) + SETTLE) /* Attempt.isSilent, Attempt.isQuiet */
#endif

mtype = { none, sending, unknown, approved, declined, failed, reversed } /* OperationState */
mtype = { absent, live, authorized, ended }                             /* PaymentStatus */
mtype = { nothing, success, failure, pending }                          /* ReportedOutcome */

/* The acquirer's capabilities and the policy, chosen at the start. */
bool repeats   /* AcquirerCapabilities.repeatsAuthorizations */
bool inquiry
bool reversal
bool tellFailure /* GatewayPolicy.reportUnknownAs == .failure */

byte now   /* seconds that have passed; a deadline counts these */
byte shift /* how far the store's clock was set ahead */
#define dbNow (now + shift)

/* The journal. Call c makes payment c, of which the authorization is the operation. */
typedef Payment {
  mtype op = none;        /* operations.state */
  mtype status = absent;  /* payments.status */
  mtype reported = nothing;
  byte fence;
  byte leaseUntil;
  byte sentUntil;
  byte nextTry;
  bool reversing;         /* an operation `reverse` is open */
  byte reverseFence;
  byte reverseLease;
  byte reverseNext;
  bool heard              /* an event has brought an approval */
}
Payment journal[2];
byte order[2], token[2];
bool inFlight[2]; /* OperationsInFlight of node c: its own call */
mtype told[2] = nothing;

/* The acquirer. */
byte requests[2]; /* authorizations on their way */
byte leftAt[2];   /* when the last of them left */
byte holds[2];    /* authorizations that hold money */
mtype decision[2] = none;
bool event[2];    /* an approval after a decline, of which the event has not arrived */
bool changedItsMind;

#define isOpen(p) (journal[p].op == sending || journal[p].op == unknown)
#define isLive(p) (journal[p].status == live || journal[p].status == authorized)

/* What the acquirer holds and the journal has still to learn or to undo. */
#define owed(p) (event[p] || journal[p].reversing)
#define kept(p) (holds[p] > 0 && !owed(p) -> holds[p] : 0)

/* ---- the shopper's call: PaymentGateway.authorize ---- */

/* Journal.claim: TokenUses.add and PaymentRecord.insert. One commit. */
inline claim(c) {
  taken = false;
#ifndef WITHOUT_ONE_LIVE_PAYMENT
  if :: isLive(1 - c) && order[1 - c] == order[c] -> taken = true :: else fi;
#endif
#ifndef WITHOUT_TOKEN_ONCE
  if :: journal[1 - c].status != absent && token[1 - c] == token[c] -> taken = true :: else fi;
#endif
  if
  :: taken
  :: else ->
    journal[c].op = sending; journal[c].status = live; journal[c].fence = 1;
#ifdef WITHOUT_LEASE
    journal[c].leaseUntil = dbNow; journal[c].sentUntil = dbNow; journal[c].nextTry = dbNow;
#else
    journal[c].leaseUntil = dbNow + LEASE; journal[c].sentUntil = dbNow + LEASE; journal[c].nextTry = dbNow + LEASE;
#endif
    inFlight[c] = true /* CallInFlight.note */
  fi
}

/* A request leaves only before the deadline of its call. */
inline send(c) {
#ifdef WITHOUT_DEADLINE
  requests[c]++; leftAt[c] = now; sent = true
#else
  if :: now <= deadline -> requests[c]++; leftAt[c] = now; sent = true
     :: else fi
#endif
}

/* Journal.scheduleReversal */
inline scheduleReversal(p) {
  if
  :: !journal[p].reversing ->
     journal[p].reversing = true; journal[p].reverseLease = 0; journal[p].reverseNext = dbNow
  :: else
  fi
}

/* Journal.posted for an authorization: drops what has an answer or another holder, and adopts nothing too late. */
inline post(p, fence_, answer, recipient) {
  if
#ifdef WITHOUT_FENCE
  :: isOpen(p) ->
#else
  :: isOpen(p) && journal[p].fence == fence_ ->
#endif
    journal[p].op = answer; journal[p].leaseUntil = 0; journal[p].sentUntil = dbNow; journal[p].nextTry = dbNow + 1;
    if
    :: answer == approved &&
#ifdef WITHOUT_REPORTED_OUTCOME
       journal[p].reversing ->
#else
       (journal[p].reported == failure || journal[p].reversing) -> /* Journal.mustNotAdopt */
#endif
       scheduleReversal(p)
    :: else ->
       if
       :: answer == approved -> journal[p].status = authorized
       :: answer == declined || answer == failed -> journal[p].status = ended
       :: else
       fi;
       if
       :: recipient && answer == approved -> journal[p].reported = success
       :: recipient && (answer == declined || answer == failed) -> journal[p].reported = failure
       :: recipient && answer == unknown && tellFailure -> journal[p].reported = failure
       :: recipient && answer == unknown && !tellFailure -> journal[p].reported = pending
       :: else
       fi
    fi
  :: else
  fi;
  forget(p)
}

/* The shopper receives what the journal has. */
inline tell(c) {
  if :: journal[c].reported == nothing -> told[c] = pending
     :: else -> told[c] = journal[c].reported fi;
  printf("The shopper of call %d receives %e.\n", c, told[c])
}

/* Forgets the times of what is over, so that fewer states differ. */
inline forget(p) {
  if
  :: !isOpen(p) && !journal[p].reversing ->
     journal[p].leaseUntil = 0; journal[p].sentUntil = 0; journal[p].nextTry = 0;
     journal[p].reverseLease = 0; journal[p].reverseNext = 0
  :: else
  fi
}

proctype Call(byte c) {
  byte deadline; bool taken, sent, repeated; mtype answer = unknown;
  /* With too little left of the budget nothing is begun. */
  atomic {
    deadline = now + PATIENCE;
#ifdef WITHOUT_DURABLE_ATTEMPT
    send(c); printf("%d: Call %d asks the acquirer before its attempt is durable.\n", now, c)
#endif
  }
  atomic {
    if
    :: claim(c); if :: taken -> printf("%d: The claim of call %d is refused.\n", now, c); goto done
                    :: else -> printf("%d: Call %d claims order %d with token %d.\n", now, c, order[c], token[c]) fi
    :: printf("%d: The commit of call %d's claim is lost, and its outcome is unknown.\n", now, c);
#ifndef WITHOUT_COMMIT_IN_DOUBT
       goto done /* Database.write throws outcomeUnknown: the acquirer is not asked */
#endif
    :: claim(c); if :: taken -> goto done :: else fi;
       printf("%d: Call %d claims order %d, and the outcome of its commit is unknown.\n", now, c, order[c]);
#ifndef WITHOUT_COMMIT_IN_DOUBT
       inFlight[c] = false; goto done
#endif
    fi
  }
  if
  :: atomic { printf("%d: Call %d dies before it asks.\n", now, c); inFlight[c] = false; goto done }
  :: skip
  fi;
again:
#ifndef WITHOUT_DURABLE_ATTEMPT
  atomic {
    send(c);
    if :: sent -> printf("%d: The request of call %d leaves.\n", now, c)
       :: else -> printf("%d: The deadline of call %d has passed: nothing is sent.\n", now, c); answer = failed fi
  }
#endif
  if
  :: atomic { sent && decision[c] != none -> answer = decision[c];
              printf("%d: Call %d receives that it is %e.\n", now, c, answer) }
  :: atomic { sent -> printf("%d: The answer to call %d does not come.\n", now, c); answer = unknown;
       if
#ifdef WITHOUT_ACQUIRER_KEY
       :: !repeated && now <= deadline -> repeated = true; goto again
#else
       :: repeats && !repeated && now <= deadline -> repeated = true; goto again
#endif
       :: else fi }
  :: atomic { !sent -> skip }
  :: atomic { shift == 0 -> printf("%d: Call %d dies while it waits.\n", now, c); inFlight[c] = false; goto done }
  fi;
  /* PaymentGateway.record: one commit. */
  atomic {
    if
    :: post(c, 1, answer, true); printf("%d: Call %d records %e.\n", now, c, answer); tell(c)
    :: printf("%d: The commit of call %d's answer is lost, and its outcome is unknown.\n", now, c);
#ifdef WITHOUT_COMMIT_IN_DOUBT
       if :: answer == approved -> told[c] = success :: answer == unknown -> told[c] = pending
          :: else -> told[c] = failure fi;
       printf("The shopper of call %d receives %e.\n", c, told[c])
#else
       /* Written again, or dropped because it is there; the shopper receives what is read then. */
       if :: post(c, 1, answer, true); tell(c) :: shift == 0 -> printf("%d: Call %d dies.\n", now, c) fi
#endif
    fi;
    inFlight[c] = false
  }
done: skip; d_step { deadline = 0; taken = false; sent = false; repeated = false; answer = 0 }
}

/* ---- recovery: PaymentGateway.resolve ---- */

/* Operations.acquireLease */
#ifdef WITHOUT_DATABASE_TIME
#define leaseNow (dbNow + (n == 1 -> AHEAD : 0)) /* each node's own clock; that of node 1 is ahead */
#else
#define leaseNow dbNow
#endif
#ifdef WITHOUT_OWN_CALLS
#define mine(p) false
#else
#define mine(p) (p == n && inFlight[n]) /* OperationsInFlight: except: inFlight.references() */
#endif

#define reversalIsDue(p) \
  (journal[p].reversing && journal[p].reverseLease <= leaseNow && journal[p].reverseNext <= leaseNow)
#define authorizationIsDue(p) \
  (isOpen(p) && !journal[p].reversing && journal[p].leaseUntil <= leaseNow && journal[p].nextTry <= leaseNow && !mine(p))
#ifdef WITHOUT_OUTDATED_REVERSAL
#define outdated(p) false
#else
#define outdated(p) (journal[p].heard && !heard) /* Journal.isOutdated */
#endif
#ifdef WITHOUT_FENCE
#define isHolder(p) true
#else
#define isHolder(p) (journal[p].reverseFence == fence)
#endif
#define isDue(p) (reversalIsDue(p) || authorizationIsDue(p))

#ifdef WITHOUT_REPORTED_OUTCOME
#define bound(known) false
#else
#define bound(known) (known == failure) /* after *failure* was reported, an authorization is only reversed */
#endif

inline leave(p) { /* PaymentGateway.leave, Operations.postpone */
  if
  :: undoing && journal[p].reverseFence == fence -> journal[p].reverseLease = 0; journal[p].reverseNext = dbNow + 1
  :: !undoing && journal[p].fence == fence ->
     journal[p].leaseUntil = 0; journal[p].sentUntil = pastSent; journal[p].nextTry = dbNow + 1
  :: else
  fi
}

proctype Recovery(byte n) {
  byte p, fence, pastSent, leasedAt, deadline, rounds; bool undoing, heard; mtype answer, known;
end:
  do
  :: atomic {
       rounds < ROUNDS && (isDue(0) || isDue(1));
       if :: isDue(0) -> p = 0 :: isDue(1) -> p = 1 fi;
       if
       :: reversalIsDue(p) ->
          undoing = true; journal[p].reverseFence++; fence = journal[p].reverseFence;
          journal[p].reverseLease = leaseNow + LEASE; pastSent = journal[p].sentUntil;
          printf("%d: Recovery on node %d leases the reversal of payment %d.\n", now, n, p)
       :: authorizationIsDue(p) ->
          undoing = false; journal[p].fence++; fence = journal[p].fence; known = journal[p].reported;
          pastSent = journal[p].sentUntil; journal[p].leaseUntil = leaseNow + LEASE;
          journal[p].sentUntil = leaseNow + LEASE;
          printf("%d: Recovery on node %d leases the authorization of payment %d.\n", now, n, p)
       fi;
       rounds++; leasedAt = leaseNow; deadline = now + PATIENCE; heard = journal[p].heard
     };
     if
     :: undoing
     :: !undoing && (bound(known) || !inquiry) -> goto reverse /* RecoveryAction */
     :: !undoing && !bound(known) && inquiry ->
        atomic {
          if
          :: now > deadline -> leave(p); goto next
          :: now <= deadline && decision[p] == approved && holds[p] > 0 -> answer = approved
          :: now <= deadline && decision[p] == declined -> answer = declined
          :: now <= deadline && decision[p] == none -> answer = none
          :: now <= deadline -> answer = unknown /* Inquiry.unavailable */
          fi;
          printf("%d: Node %d inquires about payment %d: %e.\n", now, n, p, answer)
        };
        /* RecoveryAction.Finding */
        atomic {
          if
          :: answer == approved || answer == declined ->
             post(p, fence, answer, false); printf("%d: Node %d records %e.\n", now, n, answer); goto next
          :: answer == none && PASSED(pastSent) && !reversal ->
             post(p, fence, failed, false); printf("%d: Node %d records that it never arrived.\n", now, n); goto next
          :: answer == none && PASSED(pastSent) && reversal -> goto reverse
          :: else -> leave(p); goto next
          fi
        }
reverse:
        atomic { /* Journal.beginReversal */
          if
          :: isOpen(p) && !journal[p].reversing && journal[p].fence == fence ->
             journal[p].reversing = true; journal[p].reverseFence++; journal[p].reverseLease = leaseNow + LEASE;
             journal[p].leaseUntil = 0; journal[p].sentUntil = pastSent; fence = journal[p].reverseFence;
             undoing = true; printf("%d: Node %d begins a reversal of payment %d.\n", now, n, p)
          :: else -> goto next
          fi
        }
     fi;
     /* PaymentGateway.undo: by our reference, or an inquiry and a void. */
     atomic {
       if
       :: now > deadline -> leave(p); goto next
       :: now <= deadline && holds[p] > 0 -> holds[p]--; answer = reversed
       :: now <= deadline && holds[p] == 0 && decision[p] == approved -> answer = reversed
       :: now <= deadline && holds[p] == 0 && decision[p] != approved -> answer = none
       :: now <= deadline -> answer = unknown
       fi;
       printf("%d: The acquirer answers node %d's reversal of payment %d: %e.\n", now, n, p, answer)
     };
     /* RecoveryAction.meaning, Journal.undone */
     atomic {
       if
       :: journal[p].reversing && isHolder(p) &&
          (answer == reversed || answer == none && PASSED(pastSent) && !outdated(p)) ->
          journal[p].reversing = false; journal[p].op = (answer == reversed -> reversed : failed);
          journal[p].fence++; journal[p].status = ended; forget(p);
          printf("%d: Node %d records the end of payment %d.\n", now, n, p)
       :: else -> leave(p)
       fi
     };
next: skip; d_step { p = 0; fence = 0; pastSent = 0; leasedAt = 0; deadline = 0; undoing = false; heard = false; answer = 0;
                known = 0 }
  od
}

/* ---- the acquirer and the network ---- */

proctype Acquirer() {
  byte p;
end:
  do
  :: atomic { (requests[0] > 0 || requests[1] > 0) ->
       if :: requests[0] > 0 -> p = 0 :: requests[1] > 0 -> p = 1 fi;
       requests[p]--; if :: requests[p] == 0 -> leftAt[p] = 0 :: else fi;
       if
       :: decision[p] == none -> decision[p] = approved; holds[p]++; printf("%d: The acquirer approves payment %d.\n", now, p)
       :: decision[p] == none -> decision[p] = declined; printf("%d: The acquirer declines payment %d.\n", now, p)
       :: decision[p] != none && repeats -> printf("%d: The acquirer repeats its answer for payment %d.\n", now, p)
       :: decision[p] == approved && !repeats -> holds[p]++; printf("%d: The acquirer holds payment %d again.\n", now, p)
       :: decision[p] == declined && !repeats -> skip
       :: printf("%d: The request of payment %d is lost.\n", now, p)
       fi }
  :: atomic { !changedItsMind && decision[0] == declined ->
       changedItsMind = true; decision[0] = approved; holds[0]++; event[0] = true;
       printf("%d: The acquirer approves payment 0 after it declined it.\n", now) }
  :: atomic { event[0] -> /* Inbox */
       event[0] = false; journal[0].heard = true;
       if
       :: isOpen(0) -> journal[0].fence++; post(0, journal[0].fence, approved, false)
       :: journal[0].op == approved /* known */
       :: else -> /* Journal.review: not adopted, and a reversal is written */
#ifndef WITHOUT_LATE_REVERSAL
          scheduleReversal(0)
#else
          skip
#endif
       fi;
       printf("%d: The event of the late approval arrives.\n", now) }
  od
}

/* A request arrives within the settle horizon, or never. */
#define arrived(p) (requests[p] == 0 || now + 1 < leftAt[p] + SETTLE)

proctype Clock() {
end:
  do
  :: atomic { now < END && arrived(0) && arrived(1) -> now++ }
#ifdef JUMP /* While a call waits. docs/reliability.md: otherwise *not found* counts too early. */
  :: atomic { shift == 0 && inFlight[0] -> shift = AHEAD; printf("%d: The store's clock is set ahead.\n", now) }
#endif
  od
}

/* ---- the invariants of docs/reliability.md ---- */

#define settled(p) (!isOpen(p) && !owed(p) && requests[p] == 0)
#define I1 !(order[0] == order[1] && kept(0) + kept(1) > 1) && holds[0] < 2 && holds[1] < 2
#define I2(p) !(kept(p) > 0 && !isLive(p))
#define I3(p) !(journal[p].status == authorized && holds[p] != 1)
#define I5 !(token[0] == token[1] && kept(0) > 0 && kept(1) > 0)
#define I6 !(order[0] == order[1] && isLive(0) && isLive(1))
#define I7(p) !(told[p] == success && journal[p].status != authorized)
#define Told(p) !(told[p] == failure && (journal[p].status == authorized || settled(p) && holds[p] > 0))

proctype Invariants() {
end:
  atomic {
    !((I1) && I2(0) && I2(1) && I3(0) && I3(1) && (I5) && (I6) && I7(0) && I7(1) && Told(0) && Told(1));
    if :: !(I1) -> printf("Violated: I1, an order holds money more than once.\n") :: else fi;
    if :: !(I2(0) && I2(1)) -> printf("Violated: I2, the acquirer holds money that the journal does not show.\n") :: else fi;
    if :: !(I3(0) && I3(1)) -> printf("Violated: I3, the journal shows a hold that the acquirer does not have once.\n") :: else fi;
    if :: !(I5) -> printf("Violated: I5, a payment token was approved twice.\n") :: else fi;
    if :: !(I6) -> printf("Violated: I6, an order has two live payments.\n") :: else fi;
    if :: !(I7(0) && I7(1)) -> printf("Violated: I7, the shopper received success, and the journal does not have it.\n") :: else fi;
    if :: !(Told(0) && Told(1)) -> printf("Violated: told, the shopper received failure, and the card is charged.\n") :: else fi;
    assert(false)
  }
}

init {
  atomic {
    if :: repeats = true :: repeats = false fi;
    if :: inquiry = true; reversal = true :: inquiry = true :: reversal = true fi;
    if :: tellFailure = true :: tellFailure = false fi;
    if :: order[1] = 0; token[1] = 0 :: order[1] = 0; token[1] = 1 :: order[1] = 1; token[1] = 0 fi;
    printf("Acquirer: repeats %d, inquiry %d, reversal %d. Shoppers receive failure for an open outcome: %d.\n", repeats, inquiry, reversal, tellFailure);
    run Invariants(); run Acquirer(); run Clock(); run Call(0);
#ifndef ONE_CALL
    run Call(1);
#endif
    run Recovery(0);
#ifndef ONE_NODE
    run Recovery(1)
#endif
  }
}
