/** Sends bytes on a socket, for requests that no HTTP client would send. */
import { connect } from 'node:net';

/** Sends the parts one after the other. Resolves with the whole answer when the other side has closed. */
export function onSocket(
  url: string,
  parts: readonly string[],
  { everyMs = 0 } = {},
): Promise<{ readonly text: string; readonly closed: boolean }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let silent: NodeJS.Timeout | undefined;
    const done = (closed: boolean): void => {
      clearTimeout(silent);
      clearInterval(sending);
      socket.destroy();
      resolve({ text, closed });
    };
    // If 20 s pass after the last bytes of an answer, the server has kept the connection open, which no request here allows.
    // `closed` is then false, and the test fails.
    const heard = (): void => {
      clearTimeout(silent);
      silent = setTimeout(() => done(false), 20_000);
    };
    socket.setEncoding('latin1');
    socket.on('data', (more: string) => {
      text += more;
      heard();
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
    const left = [...parts];
    const next = (): void => {
      const part = left.shift();
      if (part !== undefined) socket.write(part, 'latin1');
    };
    socket.on('connect', next);
    const sending = setInterval(next, Math.max(1, everyMs));
  });
}

/** Returns the status code of an answer. 0 without a valid status line. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.[01] (\d{3})/u.exec(text)?.[1] ?? 0);
