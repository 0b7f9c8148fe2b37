/** Lists rows for `check.test.ts`: histories that break one rule each, and the expected problem. */
import { INTERRUPTS, type BrokenRow } from './broken-interrupts.ts';
import {
  ANNA,
  BEN,
  cancelledOften,
  framed,
  history,
  killed,
  N1,
  N2,
  one,
  pair,
  Recorded,
  said,
  sent,
  TO,
  two,
  withdrawn,
} from './recorded.ts';

export const BROKEN: readonly BrokenRow[] = [
  ...INTERRUPTS,
  [
    'again',
    'a flagged repeat on a connection that had it',
    () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).call('c2', one(N1, true)).over()]),
    /came again in anna, 20 ms after it was shown there \(ride, ride\)/,
  ],
  [
    'again',
    'a repeat because of a cancel that came a second after the answer',
    () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).cancelled(1_000).call('c2', one(N1, true)).over()]),
    /came again in anna/,
  ],
  [
    'again',
    'a repeat because of a cancel of a client that cancels every answer',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10, { client: 'opencode' }).call('c1', one(N1)).cancelled(50).call('c2', one(N1, true)).over(),
      ]),
    /came again in anna/,
  ],
  [
    'again',
    'a pull of a critical one that a pull has shown',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10).refused('c1', N1).pulled({ message: N1 }).pulled({ message: N1, repeated: true }).over(),
      ]),
    /\(pull, pull\)/,
  ],
  [
    'again',
    'a refusal for a critical one that a pull has shown',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10).refused('c1', N1).pulled({ message: N1 }).refused('c2', N1).over(),
      ]),
    /\(pull, refusal\)/,
  ],
  [
    'reworded',
    'a repeat with another text',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10).call('c1', said('a')).restarted().call('c2', said('b').replace(',', ', repeated,')).over(),
      ]),
    /came again in anna as "ci error: b, /,
  ],
  [
    'reworded',
    "an item without its producer's words",
    () => history(sent(N1, TO, 5, { text: `the build is red, ${N1}` }), [new Recorded(10).call('c1', said('a')).over()]),
    /said "the build is red/,
  ],
  [
    'misplaced',
    'a frame that says two and lists one',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10).call('c1', framed('2 notifications, automatic, no human typed this', `ci error: a ${N1}`)).over(),
      ]),
    /says 2 notifications and lists 1/,
  ],
  [
    'reworded',
    'two texts for the calls that one interrupt refuses',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10)
          .refused('c1', N1)
          .refused('c2', N1, { as: (line) => line.replace('lets calls', 'lets your calls') })
          .over(),
      ]),
    /anna was refused with/,
  ],
  [
    'reworded',
    'a frame with another mark',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 50)],
        [new Recorded(10).call('c1', one(N1)).call('c2', one(N2).replaceAll('k7f3', 'k7f4'), { at: 70 }).over()],
      ),
    /the marks k7f3, k7f4/,
  ],
  [
    'disordered',
    'a warning before an error',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 6)],
        [new Recorded(20).call('c1', two(`ci warning: a ${N1}`, `ci error: b ${N2}`)).over()],
      ),
    /ci warning: a .* is too early/,
  ],
  [
    'disordered',
    'a newer one before an older one',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 20)],
        [new Recorded(30).call('c1', two(`ci error: b ${N2}`, `ci error: a ${N1}`)).over()],
      ),
    /ci error: b .* is too early/,
  ],
  [
    'fields',
    'structured content without the frame, for a client that shows nothing else',
    () => history(sent(N1, TO, 5), [new Recorded(10).structured('c1', one(N1), false).over()]),
    /has no _notices/,
  ],
  [
    'fields',
    'the frame in structured content for a client that shows blocks',
    () => history(sent(N1, TO, 5), [new Recorded(10, { client: 'qwen-code' }).structured('c1', one(N1), true).over()]),
    /no use for/,
  ],
  [
    'fields',
    'a schema that does not declare the field',
    () => history([], [new Recorded(10).listed({ size: {} }).call('c1').over()]),
    /does not declare _notices/,
  ],
  [
    'lost',
    'a broadcast that only a living sibling got',
    () =>
      history(
        sent(N1, 'shop/*', 50),
        [
          new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
          new Recorded(0, BEN).call('c3'),
          new Recorded(300, { ...BEN, pid: 12, conversation: 'ben-s2' }).call('c4').over(480),
        ],
        [killed(11, 200)],
      ),
    /while ben was active/,
  ],
  ['lost', 'five answers that a cancel crossed, of which none comes again', () => cancelledOften(0), /and none came again/],
  [
    'again',
    'a flagged repeat in the next session, long after an answer that was read',
    () =>
      history(
        sent(N1, TO, 5),
        [
          new Recorded(10).call('c1', one(N1)).call('c2', undefined, { at: 1_100 }),
          new Recorded(1_500, { pid: 11 }).call('c3', one(N1, true)).over(),
        ],
        [killed(10, 1_300)],
      ),
    /came again in anna, 1490 ms after it was shown in anna and certainly read \(ride, ride\)/,
  ],
  [
    'again',
    "a flagged repeat in the agent's other window",
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10, ANNA).call('c1', one(N1)).call('c2', undefined, { at: 1_100 }).over(),
        new Recorded(10, BEN).call('c3').call('c4', one(N1, true), { at: 1_500 }).over(),
      ]),
    /came again in ben, 1480 ms after it was shown in anna/,
  ],
  [
    'again',
    'a refusal in the next session for what an earlier one has pulled',
    () =>
      history(
        sent(N1, TO, 5, { level: 'critical' }),
        [
          new Recorded(10).refused('c1', N1).pulled({ message: N1 }).call('c2', undefined, { at: 1_100 }),
          new Recorded(1_500, { pid: 11 }).refused('c3', N1).over(),
        ],
        [killed(10, 1_300)],
      ),
    /certainly read \(pull, refusal\)/,
  ],
  [
    'again',
    'an offer that a library user had confirmed',
    () =>
      history(sent(N1, TO, 5), [
        new Recorded(10, { form: 'library', client: 'offer' }).message('7', one(N1), 'offer').over(),
        new Recorded(50, { form: 'library', client: 'offer' }).message('8', one(N1, true), 'offer').over(),
      ]),
    /certainly read \(message, message\)/,
  ],
  [
    'denied',
    'a withdrawal of what had been shown',
    () => history([...sent(N1, TO, 5), ...withdrawn(100, 'withdrawn')], [new Recorded(0).call('c1', one(N1), { at: 20 }).over()]),
    /was called withdrawn, which nobody was told, and anna was shown it 70 ms before that was asked/,
  ],
  [
    'denied',
    'a withdrawal of what was shown while it was asked for',
    () =>
      history(
        [...sent(N1, TO, 5), ...withdrawn(30, 'withdrawn')],
        [new Recorded(0).call('c1', one(N1), { at: 20, ms: 15 }).over()],
      ),
    /anna was shown it while that was asked/,
  ],
  [
    'uncalled',
    'a withdrawn one in the repeat of its line',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 6), ...withdrawn(70, 'maybe_seen')],
        [
          new Recorded(10)
            .call('c1', framed('1 notification, automatic', `ci error: a ${N1}; b ${N2}`))
            .restarted()
            .call('c2', framed('1 notification, repeated, automatic', `ci error: a ${N1}; b ${N2}`), { at: 100 })
            .over(),
        ],
      ),
    /was withdrawn \(maybe_seen\), and a later call of anna carried it/,
  ],
  [
    'reworded',
    'only a part of a line, although no notification of the line has ended',
    () =>
      history(
        [...sent(N1, TO, 5), ...sent(N2, TO, 6)],
        [
          new Recorded(10)
            .call('c1', framed('1 notification, automatic', `ci error: a ${N1}; b ${N2}`))
            .restarted()
            .call('c2', framed('1 notification, repeated, automatic', `ci error: b ${N2}`))
            .over(),
        ],
      ),
    /came again in anna as "ci error: b/,
  ],
  [
    'lost',
    'a broadcast to a window whose gateway could reach its store again before it',
    () =>
      history(sent(N1, 'shop/*', 500), [
        new Recorded(0)
          .outOfReach(5)
          .call('c1', undefined, { at: 20 })
          .reachable(100)
          .call('c2', undefined, { at: 300 })
          .over(900),
      ]),
    /while anna was active/,
  ],
  [
    'lost',
    'a critical notification that one session was not refused with, though a later session died without an answer',
    () =>
      history(
        [...sent(N1, TO, 150, { level: 'critical' }), ...sent(N2, TO, 160, { level: 'critical' })],
        [
          new Recorded(0).call('c1'),
          new Recorded(200, { pid: 11 }).refused('c2', N2),
          new Recorded(400, { pid: 12 }).unanswered('c3', { reached: false }),
        ],
        [killed(10, 100), killed(11, 300), killed(12, 500)],
      ),
    /reached no client of the agent/,
  ],
  [
    'gate',
    'a call behind a critical one that was acknowledged between two sessions',
    () =>
      history(
        sent(N1, TO, 150, { level: 'critical' }),
        [new Recorded(0).call('c1'), new Recorded(200, { pid: 11 }).call('c2').refused('c3', N1).over()],
        [killed(10, 100)],
      ),
    /c2 of anna reached its server 55 ms after/,
  ],
  [
    'gate',
    'a call less than a second after the last of two refusals',
    () =>
      history(sent(N1, TO, 5, { level: 'critical' }), [
        new Recorded(10).refused('c1', N1).refused('c2', N1, { at: 900 }).call('c3', undefined, { at: 1_100 }).over(),
      ]),
    /c3 of anna .* 200 ms after its last refusal/,
  ],
  [
    'gate',
    'the first call of an agent with two windows, behind a critical one for either',
    () =>
      history(sent(N1, TO, 50, { level: 'critical' }), [
        new Recorded(0, ANNA).call('c1').call('c2', undefined, { at: 60 }).over(500),
        new Recorded(0, BEN).call('c3').refused('c4', N1, { at: 100 }).pulled({ message: N1 }).over(500),
      ]),
    /c2 of anna/,
  ],
  [
    'outdated',
    'an older state that comes again when the newer one was acknowledged',
    () =>
      history(pair, [
        new Recorded(20).call('c1', one(N1), { at: 45, ms: 30 }).restarted().call('c2', one(N1, true)).call('c3', one(N2)).over(),
      ]),
    /came again 40 ms after .* a newer state of k/,
  ],
  [
    'outdated',
    'an older state by a call that began when the newer one was acknowledged',
    () => history(pair, [new Recorded(60).call('c1', one(N2)).call('c2', one(N1)).over()]),
    /a newer state of k/,
  ],
  [
    'gate',
    'a resume that escapes a pause that refused the first call of its session',
    () =>
      history(
        [...sent(N1, TO, 5, { action: 'pause' }), { t: 900, kind: 'resuming', to: TO }],
        [new Recorded(10).refused('c1', N1), new Recorded(200, { pid: 11 }).call('c2').over()],
        [killed(10, 100)],
      ),
    /c2 of anna/,
  ],
  [
    'uncalled',
    'a withdrawn one that may have been seen, in another window',
    () =>
      history(
        [...sent(N1, TO, 5), ...withdrawn(30, 'maybe_seen')],
        [new Recorded(0, ANNA).call('c1').over(), new Recorded(0, BEN).call('c2', one(N1), { at: 60 }).over()],
      ),
    /was withdrawn \(maybe_seen\)/,
  ],
  [
    'uncalled',
    'one that had expired',
    () => history(sent(N1, TO, 5, { ttlMs: 100 }), [new Recorded(0).call('c1').call('c2', one(N1), { at: 200 }).over()]),
    /had expired/,
  ],
  [
    'uncalled',
    'one that had expired when a loop asked for it',
    () =>
      history(sent(N1, TO, 5, { ttlMs: 100 }), [
        new Recorded(200, { form: 'library', client: 'carry' }).message('7', one(N1)).over(),
      ]),
    /had expired/,
  ],
  [
    'uncalled',
    "a living sibling's notification",
    () =>
      history(sent(N1, `${TO}#ben-s1`, 50), [
        new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
        new Recorded(0, BEN).call('c3').over(500),
      ]),
    /a conversation that was not over/,
  ],
  [
    'late',
    'a pull without what is open',
    () => history(sent(N1, TO, 50), [new Recorded(0).call('c1').pulledAt(100).call('c2', one(N1)).over()]),
    /is not in a pull of anna 45 ms after/,
  ],
  [
    'late',
    'a pull without what is open, long after its gateway could reach its store again',
    () =>
      history(sent(N1, TO, 50), [
        new Recorded(0).call('c1').outOfReach(20).reachable(30).pulledAt(1_300).call('c2', one(N1)).over(),
      ]),
    /is not in a pull of anna 1245 ms after/,
  ],
  [
    'late',
    'a broadcast that a window was not given, before its heir has it',
    () =>
      history(sent(N1, 'shop/*', 50), [
        new Recorded(0, ANNA).call('c1').call('c2', one(N1), { at: 80 }).over(500),
        new Recorded(0, BEN).call('c3').pulledAt(100).renamed('ben-s2').call('c4', one(N1)).over(),
      ]),
    /is not in a pull of ben/,
  ],
];
