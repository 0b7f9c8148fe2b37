/** Sends answers with deliveries to clients over HTTP. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Delivery } from '../riding/rider.ts';
import type { Settling } from '../riding/settling.ts';

/**
 * Maps each connection to the function to call if the connection is reset. One function is enough, because a connection has one
 * answer at a time.
 */
const onReset = new WeakMap<Socket, () => void>();

/**
 * Sends an answer and settles its delivery. After the bytes have left this process, `settling` confirms the delivery, unless the
 * client cancels the request. If the client is killed before it reads the bytes, its operating system resets the connection, and
 * the delivery is released. After the bytes have left, a regular disconnect does not release the delivery. Until the bytes have
 * left, any disconnect releases the delivery.
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
