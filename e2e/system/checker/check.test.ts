/** Tests each rule of the checker with hand-written histories: some follow the rule, and some break it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check, RULES, type Rule } from './check.ts';
import { BROKEN } from './broken.ts';
import { SOUND } from './sound.ts';
import type { History } from '../history.ts';
import { framed, history, killed, N1, N2, one, Recorded, refusal, sent, TO } from './recorded.ts';
import { proves } from '../../verifies.ts';

proves('faults:system-checker');

/** Returns the problems by rule. */
const broken = (of: History, epoch = 0): Partial<Record<Rule, readonly string[]>> =>
  Object.fromEntries(Object.entries(check(of, epoch).problems).filter(([, each]) => each.length > 0));

describe('a correct history', () => {
  it('breaks no rule: a delivery, a marked repetition, a refusal with its read, a resume', () => {
    const anna = new Recorded(0)
      .call('c1')
      .call('c2', one(N1), { at: 100 })
      .refused('c3', N2, { at: 300 })
      .pulled({ message: `wait, ${N2}` })
      .call('c4');
    const resumed = new Recorded(1_000).call('c5', one(N1, true)).over();
    const of = history([...sent(N1, TO, 50), ...sent(N2, TO, 200, { level: 'critical' })], [anna, resumed], [killed(10, 900)]);
    expect(broken(of)).toEqual({});
    const { counts, kills } = check(of, 0);
    expect(counts).toEqual({
      acknowledged: 2,
      delivered: 2,
      calls: 5,
      refused: 1,
      repeats: 1,
      pulled: 1,
      excused: 0,
      unknown: 0,
    });
    expect(kills).toEqual({ host: 1 });
  });

  it('is checked without code or logs of the product', () => {
    const sources = readdirSync(import.meta.dirname).map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'));
    sources.push(
      readFileSync(join(import.meta.dirname, '../history.ts'), 'utf8'),
      readFileSync(join(import.meta.dirname, '../journal.ts'), 'utf8'),
    );
    for (const source of sources) {
      const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
      expect(imports.filter((from) => from?.includes('/src/'))).toEqual([]);
      expect(imports.filter((from) => from?.startsWith('node:sqlite'))).toEqual([]);
    }
  });
});

describe('the checker finds a broken rule', () => {
  const cases: readonly [Rule, string, () => History, RegExp][] = [
    [
      'lost',
      'an acknowledged notification that no client got',
      () => history(sent(N1, TO, 5), [new Recorded().call('c1').over()]),
      /reached no client/,
    ],
    [
      'lost',
      'a broadcast that one active window did not get',
      () =>
        history(sent(N1, 'shop/*', 50), [
          new Recorded().call('c1').call('c2', one(N1), { at: 80 }).over(),
          new Recorded(0, { window: 'ben', pid: 11 }).call('c3').over(500),
        ]),
      /while ben was active/,
    ],
    [
      'lost',
      'a frame on a result that the client cuts',
      () =>
        history(sent(N1, TO, 5), [
          new Recorded(0, { client: 'qwen-code' }).call('c1', one(N1), { output: 'x'.repeat(30_000) }).over(),
        ]),
      /reached no client/,
    ],
    [
      'unflagged',
      'the same frame twice',
      () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).restarted().call('c2', one(N1)).over()]),
      /came again in anna/,
    ],
    [
      'unflagged',
      'the same notification after a resume',
      () =>
        history(
          sent(N1, TO, 5),
          [new Recorded(10).call('c1', one(N1)), new Recorded(200).call('c2', one(N1)).over()],
          [killed(10, 100)],
        ),
      /came again in anna/,
    ],
    [
      'unflagged',
      'two repeats in a frame that calls one repeated',
      () => {
        const two = (lead: string): string =>
          framed(`2 notifications${lead}, automatic`, `ci error: a ${N1}`, `ci error: b ${N2}`);
        return history(
          [...sent(N1, TO, 1), ...sent(N2, TO, 2)],
          [new Recorded(10).call('c1', two('')).restarted().call('c2', two(', 1 repeated')).over()],
        );
      },
      /calls 1 repeated/,
    ],
    [
      'unflagged',
      'a line to all, twice in one session of an agent with two windows',
      () =>
        history(sent(N1, 'shop/*', 5), [
          new Recorded(10).call('c1', one(N1)).restarted().call('c2', one(N1)).over(),
          new Recorded(10, { window: 'ben', pid: 11 }).call('c3').over(),
        ]),
      /came again in anna/,
    ],
    [
      'unflagged',
      'a pull of what a frame has shown',
      () => history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1)).restarted().pulled({ message: N1 }).over()]),
      /was pulled in anna/,
    ],
    [
      'unflagged',
      'two pulls of one',
      () => history(sent(N1, TO, 5), [new Recorded(10).pulled({ message: N1 }).restarted().pulled({ message: N1 }).over()]),
      /was pulled in anna/,
    ],
    [
      'twice',
      'two records of our transcript',
      () =>
        history(sent(N1, TO, 5), [
          new Recorded(10, { form: 'library', client: 'carry' }).message('7', one(N1)).over(),
          new Recorded(50, { form: 'library', client: 'carry' }).message('8', one(N1, true)).over(),
        ]),
      /in 2 records/,
    ],
    [
      'altered',
      'a float that was parsed and written again',
      () => history([], [new Recorded().call('c1', undefined, { as: (line) => line.replace('1.0', '1') }).over()]),
      /byte \d+ differs/,
    ],
    [
      'altered',
      'a byte of the output beside a frame',
      () =>
        history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1), { as: (line) => line.replace('done', 'Done') }).over()]),
      /byte \d+ differs/,
    ],
    [
      'altered',
      'a result that no server sent',
      () => {
        const anna = new Recorded().call('c1').over();
        anna.upstream.clear();
        return history([], [anna]);
      },
      /no server sent/,
    ],
    [
      'misplaced',
      'a frame without its end',
      () =>
        history(sent(N1, TO, 5), [new Recorded(10).call('c1', one(N1).replace('\n[/ep k7f3]', '')).call('c2', one(N1)).over()]),
      /does not end with its mark/,
    ],
    [
      'misplaced',
      'a notification in a frame that answers no call',
      () =>
        history(sent(N1, TO, 5), [
          new Recorded(10)
            .call('c1', one(N1))
            .frame(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${N1}"}}`)
            .over(),
        ]),
      /in notifications\/message/,
    ],
    [
      'uncalled',
      "another agent's",
      () => history(sent(N1, 'shop/tester', 5).slice(0, 1), [new Recorded(10).call('c1', one(N1)).over()]),
      /which is for shop\/tester/,
    ],
    ['uncalled', 'one that nobody sent', () => history([], [new Recorded(10).call('c1', one(N1)).over()]), /no producer sent/],
    [
      'uncalled',
      'a reminder before its time',
      () => history(sent(N1, TO, 5, { notBefore: 9_000 }), [new Recorded(10).call('c1', one(N1)).over()]),
      /before its time/,
    ],
    [
      'uncalled',
      'one that was withdrawn in time',
      () =>
        history(
          [
            ...sent(N1, TO, 5),
            { t: 20, kind: 'withdrawing', nonce: N1 },
            { t: 30, kind: 'withdrawn', nonce: N1, result: 'withdrawn', log: TO },
          ],
          [new Recorded(0).call('c0').call('c1', one(N1), { at: 50 }).over()],
        ),
      /was withdrawn/,
    ],
    [
      'gate',
      'a call after a pause',
      () =>
        history(
          [...sent(N1, TO, 50, { action: 'pause' }), { t: 500, kind: 'resuming', to: TO }],
          [new Recorded(0).call('c1').call('c2', one(N1), { at: 100 }).over()],
        ),
      /c2 of anna reached its server 45 ms after/,
    ],
    [
      'gate',
      'a call after a pause that was only pulled',
      () =>
        history(
          [...sent(N1, TO, 50, { action: 'pause' }), { t: 500, kind: 'resuming', to: TO }],
          [new Recorded(0).call('c1').refused('c2', N1, { at: 100 }).pulled({ message: N1 }).call('c3').over()],
        ),
      /c3 of anna/,
    ],
    [
      'gate',
      'the second call of a batch after a critical one',
      () =>
        history(sent(N1, TO, 50, { level: 'critical' }), [
          new Recorded(0).call('c1').refused('c2', N1, { at: 100 }).call('c3').over(),
        ]),
      /c3 of anna/,
    ],
    [
      'gate',
      'a resume that escapes',
      () =>
        history(
          [...sent(N1, TO, 50, { action: 'pause' }), { t: 900, kind: 'resuming', to: TO }],
          [new Recorded(0).call('c1'), new Recorded(200, { pid: 11 }).call('c2').refused('c3', N1).over()],
          [killed(10, 100)],
        ),
      /c2 of anna/,
    ],
    [
      'gate',
      'a session that begins during a pause of the project',
      () =>
        history(
          [...sent(N1, 'shop/*', 50, { action: 'pause' }), { t: 900, kind: 'resuming', to: TO }],
          [
            new Recorded(0).call('c1').refused('c2', N1, { at: 100 }).over(),
            new Recorded(200, { window: 'ben', pid: 11 }).call('c3').over(),
          ],
        ),
      /c3 of ben/,
    ],
    [
      'orphans',
      'a process that is left',
      () => history([], [], [{ t: 1, kind: 'orphan', what: 'wrapped server', pid: 7 }]),
      /wrapped server, pid 7/,
    ],
    [
      'trouble',
      'what the storm found',
      () => history([], [], [{ t: 1, kind: 'problem', text: 'db check ended with 8' }]),
      /db check/,
    ],
    [
      'trouble',
      'a call that reached its server twice',
      () => {
        const anna = new Recorded().call('c1').over();
        anna.upstream.get('c1')?.unshift({ t: 0 });
        return history([], [anna]);
      },
      /reached the server 2 times/,
    ],
  ];

  it.each([...cases, ...BROKEN])('%s: %s', (rule, _what, of, said) => {
    const found = broken(of());
    expect(Object.keys(found)).toEqual([rule]);
    expect(found[rule]?.join('\n')).toMatch(said);
  });

  it('every rule has a case', () => {
    expect(new Set([...cases, ...BROKEN].map(([rule]) => rule))).toEqual(new Set(Object.keys(RULES)));
  });
});

describe('a gateway that cannot reach its store', () => {
  const pause = [...sent(N1, TO, 50, { action: 'pause' }), { t: 900, kind: 'resuming', to: TO } as const];
  const line = (t: number, text: string) => ({ t, kind: 'stderr', pid: 99, text }) as const;
  const shared = (): Recorded => {
    const web = new Recorded(0).call('c1');
    web.lines.splice(1, 0, { t: 1, kind: 'gateway', pid: 99, shared: true });
    return web.call('c2', one(N1), { at: 100 }).over();
  };

  it('may let a call pass, which is counted; when its store is available again, the gateway may not', () => {
    const out = line(
      105,
      'notifications cannot be reached (before: no answer within 250 ms); until the store answers, tool calls pass without notifications',
    );
    const during = history(pause, [shared()], [out]);
    expect(broken(during)).toEqual({});
    expect(check(during, 0).counts.excused).toBe(1);
    const before = history(
      pause,
      [shared()],
      [
        line(20, out.text),
        { t: 30, kind: 'killed', what: 'HTTP gateway', pid: 98 },
        line(40, 'notifications can be reached again'),
      ],
    );
    expect(
      broken({ ...before, storm: before.storm.map((each) => (each.kind === 'stderr' ? { ...each, t: each.t - 200 } : each)) }),
    ).toHaveProperty('gate');
  });
});

describe('the checker finds no fault in', () => {
  it.each<[string, History]>([
    ...SOUND,
    [
      "a line to all that an heir drops: an earlier session of its agent was told, and the sibling's copy was unread",
      history(
        sent(N1, 'shop/*', 50),
        [
          new Recorded(0, { window: 'ben', pid: 11 }).call('c0'),
          new Recorded(0).call('c1').call('c2', one(N1), { at: 80 }).over(),
          new Recorded(300, { pid: 12 }).call('c3').over(),
        ],
        [killed(11, 100)],
      ),
    ],
    ['what was never acknowledged', history(sent(N1, TO, 5).slice(0, 1), [new Recorded().call('c1').over()])],
    [
      'an older state of one key',
      history(
        [...sent(N1, TO, 5, { supersedes: 'k' }), ...sent(N2, TO, 15, { supersedes: 'k' })],
        [new Recorded(30).call('c1', one(N2)).over()],
      ),
    ],
    [
      'a second refusal of one gate',
      history(sent(N1, TO, 5, { level: 'critical' }), [new Recorded(10).refused('c1', N1).refused('c2', N1).over()]),
    ],
    [
      'a call that began before the pause',
      history(
        [...sent(N1, TO, 50, { action: 'pause' }), { t: 60, kind: 'resuming', to: TO }],
        [new Recorded(0).call('c1').call('c2', one(N1), { at: 40, ms: 30 }).over()],
      ),
    ],
    [
      'a call a second after a refusal of a critical one',
      history(sent(N1, TO, 50, { level: 'critical' }), [
        new Recorded(0).call('c1').refused('c2', N1, { at: 100 }).call('c3', undefined, { at: 1_200 }).over(),
      ]),
    ],
    [
      'a forged frame in the output of a tool',
      history([], [new Recorded().call('c1', undefined, { output: refusal('zzzz') }).over()]),
    ],
    [
      'a broadcast to a session that died before it was told, and its heir has it',
      history(
        sent(N1, 'shop/*', 50),
        [new Recorded(0).call('c1'), new Recorded(200, { pid: 11 }).call('c2', one(N1)).over()],
        [killed(10, 100)],
      ),
    ],
  ])('%s', (_what, of) => {
    expect(broken(of)).toEqual({});
  });
});
