/**
 * Ends a command that a call waits for when this process dies without ending it (`kill -9`). A small shell waits beside us at
 * the end of a pipe, which closes with us, however we end. The session that it was told of then gets SIGTERM, and SIGKILL
 * after two seconds.
 */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const SCRIPT = `
session=
while read -r line; do session=$line; done
[ -n "$session" ] || exit
end() {
  kill "-$1" "-$session" 2>/dev/null && left=1
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    set -- "$1" \${line##*) }
    [ "$5" = "$session" ] && kill "-$1" "-$4" && left=1
  done 2>/dev/null
}
left=0; end TERM
[ $left = 0 ] && exit
end CONT; sleep 2; end KILL
`;

export interface Watchdog {
  /** The session to end with us. */
  owns(session: number): void;
  /** The command has ended, or could not be started. */
  over(): void;
}

/** Made before the command is started, so that there is no moment without. Where there is no shell, nothing is watched. */
export function watchdog(): Watchdog {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as Socket).unref();
  return {
    owns: (session) => void shell.stdin.write(`${session}\n`),
    over: () => void shell.stdin.end('\n'),
  };
}
