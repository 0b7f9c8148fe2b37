import { describe, expect, it } from 'vitest';
import { beginOfSession, candidatesFor, isSharedServer, showsSession, type Terminal } from './codex-terminals.ts';

const terminal = (pid: number, since: number, folder = '/srv/shop', args: readonly string[] = ['codex']): Terminal => ({
  pid,
  parent: 1,
  startedAt: String(since),
  name: 'codex',
  args,
  since,
  folder,
});

const MINUTE = 60_000;

describe('the terminal of a session in the shared server of Codex', () => {
  it.each([
    ['the only terminal of the folder, however old the session is', [terminal(1, 50 * MINUTE)], 0, 1],
    ['no terminal of another folder', [terminal(1, 0, '/srv/other')], 0, undefined],
    ['a terminal that names the folder', [terminal(1, 0, '/', ['codex', '-C', '/srv/shop'])], 0, 1],
    ['no terminal if a later one may have resumed it', [terminal(1, 0), terminal(2, 9 * MINUTE)], 5 * MINUTE, 'several'],
    [
      'no terminal if `codex resume` may show it in another folder',
      [terminal(1, 0), terminal(2, 9 * MINUTE, '/srv/other', ['codex', 'resume', '--last'])],
      3_000,
      'several',
    ],
    ['the terminal that has just started', [terminal(1, 0), terminal(2, 5 * MINUTE)], 5 * MINUTE + 3_000, 2],
    [
      'no terminal if two have just started',
      [terminal(1, 5 * MINUTE), terminal(2, 5 * MINUTE + 900)],
      5 * MINUTE + 3_000,
      'several',
    ],
    ['no terminal if the first may show it after `/new`', [terminal(1, 0), terminal(2, MINUTE)], MINUTE + 20_000, 'several'],
    ['no terminal if two may show a later session', [terminal(1, 0), terminal(2, MINUTE)], 9 * MINUTE, 'several'],
    ['no terminal if two may show a resumed session', [terminal(1, 5 * MINUTE), terminal(2, 6 * MINUTE)], 0, 'several'],
  ])('is %s', (_, terminals, beganAt, expected) => {
    const { among, likely } = candidatesFor({ folder: '/srv/shop', beganAt }, terminals);
    expect(likely?.pid ?? (among.length > 0 ? 'several' : undefined)).toBe(expected);
  });

  it.each([
    ['codex', true],
    ['codex review the doctor', false],
    ['codex fix a bug', true],
    ['codex -m exec fix the doctor', true],
    ['codex -c a=1 exec run it', false],
    ['codex --no-daemon', false],
    ['codex --search look at it', true],
  ])('%s shows a session: %s', (line, expected) => {
    expect(showsSession(line.split(' '))).toBe(expected);
  });

  it('is searched by the time in the id of the session', () => {
    expect(beginOfSession('01a2233d-1157-7143-bd2b-a7eb0e6a5748')).toBe(0x01a2233d1157);
    expect(beginOfSession('s-1')).toBeUndefined();
  });

  it('is searched only below the shared server', () => {
    const server = ['codex', 'app-server', '--listen', 'unix://', '--managed-daemon'];
    expect([server, ['codex', 'app-server'], ['codex']].map((args) => isSharedServer(terminal(1, 0, '/', args)))).toEqual([
      true,
      false,
      false,
    ]);
  });
});
