/** Sends answers that contain a delivery to clients over HTTP. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Delivery } from '../riding/rider.ts';
import type { Settling } from '../riding/settling.ts';

/** The callback for a reset of this connection. A connection has one answer at a time. */
const onReset = new WeakMap<Socket, () => void>();

/**
 * Sends bytes that carry a delivery. The delivery counts once the bytes have left. If a client is killed before it reads them,
 * its system resets the connection and the delivery is released. A regular disconnect does not release it.
 */
export function deliver(
  response: ServerResponse,
  { settling, requestId, delivery }: { readonly settling: Settling; readonly requestId: string; readonly delivery: Delivery },
  send: (written: (error?: Error | null) => void) => void,
): void {
  const { socket } = response;
  settling.begin(requestId, delivery);
  const failed = (): void => settling.failed(requestId, delivery);
  response.once('close', failed);
  send((error) => {
    response.off('close', failed);
    if (error) return failed();
    settling.written(requestId, delivery);
    if (socket === null) return;
    if (!onReset.has(socket)) socket.once('error', () => onReset.get(socket)?.());
    onReset.set(socket, () => settling.reset(requestId, delivery));
  });
}
