/**
 * Ends a command in the foreground if this process is killed (`kill -9`). A small shell reads from a pipe that closes when this
 * process ends. The command's session then gets SIGTERM, and SIGKILL after two seconds.
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
  /** Sets the session that ends with this process. */
  owns(session: number): void;
  /** Ends the watch, because the command has ended or could not be started. */
  over(): void;
}

/**
 * Starts a process that ends the command if this process dies. Call this function before the command starts, so that the
 * command is always watched. Without `/bin/sh`, the command is not watched.
 */
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
