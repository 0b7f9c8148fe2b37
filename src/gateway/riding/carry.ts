import { defined } from '../../core/defined.ts';
import type { Frame, Success } from '../../mcp/frames/frame.ts';
import type { GuardedRider } from './guarded.ts';
import { isJson, textOf } from '../../mcp/frames/json.ts';
import type { Profile } from './profiles.ts';
import { carrierIn, charsOf, linesIn, linesOf, plain, replaced, sizeOf, withRide, type Carrier } from './results.ts';
import type { Awaitable, Call, Connection, Delivery, Result, Ride } from './rider.ts';
import { treatmentOf, type SchemaKind } from './tools.ts';

/**
 * Bytes on their way to a client. `frame` is the parsed form of the bytes, if the bytes are unchanged. `delivery` is settled
 * after the bytes are written. `requestId` is the id of the answered request. `without` returns the answer without the text:
 * see `leaving`.
 */
export type Outgoing = {
  readonly bytes: Buffer;
  readonly frame?: Frame;
  readonly requestId?: string;
  readonly delivery?: Delivery;
  readonly without?: () => Outgoing;
};

/** Makes an `Outgoing` from an answer of the server. `bytes` are the bytes of the frame or a changed copy. */
export const answering = (frame: Success, bytes: Buffer): Outgoing => (bytes === frame.bytes ? { bytes, frame } : { bytes });

/** One tools/call that is waiting for its answer. `cancelled` may become true at any time before the answer is sent. */
export type OpenCall = Call & { readonly connection: Connection; cancelled: boolean };

/**
 * Asks the rider what to add to a tools/call result, and makes the bytes for the client. The result of a tools/call is the
 * gateway's contact point.
 */
export function carry(rider: GuardedRider, call: OpenCall, schema: SchemaKind | undefined, frame: Success): Awaitable<Outgoing> {
  const { requestId } = call;
  const treatment = treatmentOf(call.connection.profile, schema);
  if (treatment !== 'remove' && (call.cancelled || rider.silent(call.connection)))
    return { bytes: frame.bytes, frame, requestId };
  const carrier = carrierIn(frame);
  if (carrier === undefined) return { bytes: frame.bytes, frame, requestId };
  const unchanged = (): Outgoing => ({ ...answering(frame, plain(carrier, treatment)), requestId });
  if (call.cancelled) return unchanged();

  const result = resultOf(call, carrier);
  const asked = rider.after(call.connection, result);
  const put = (ride: Ride): Outgoing => {
    if (ride.kind === 'none') return unchanged();
    const { delivery } = ride;
    if (call.cancelled) {
      delivery.release('cancelled');
      return unchanged();
    }
    if (!isJson(frame.bytes)) {
      delivery.release('write_error'); // The client cannot read this result, even without a notification.
      return unchanged();
    }
    if (ride.kind === 'replace') {
      const asError = schema !== undefined ? schema !== 'none' && treatment !== 'remove' : carrier.structured !== undefined;
      return { bytes: replaced(carrier, ride.text, { asError }), requestId, delivery };
    }
    if (!hasRoom(call.connection.profile, carrier, result, ride.text)) {
      delivery.release('too_big');
      return unchanged();
    }
    return { bytes: withRide(carrier, treatment, ride), requestId, delivery, without: unchanged };
  };
  return asked instanceof Promise ? asked.then(put) : put(asked);
}

/**
 * Returns the answer to write. A text that has already left may show a newer state of a notification in this answer. Then this
 * function releases the delivery and returns the answer without its text. The caller must write the returned answer at once, so
 * that no other text leaves in between.
 */
export function leaving(out: Outgoing): Outgoing {
  const { delivery, without } = out;
  if (without !== undefined && delivery?.departure?.isOvertaken) {
    delivery.release('late');
    return without();
  }
  delivery?.departure?.leave();
  return out;
}

function resultOf(call: OpenCall, carrier: Carrier): Result {
  const { profile } = call.connection;
  let chars: number | undefined;
  return {
    server: call.server,
    tool: call.tool,
    requestId: call.requestId,
    ...defined({ beganAt: call.beganAt }),
    isError: carrier.isError,
    maxChars: maxCharsOf(profile, carrier),
    get chars() {
      return (chars ??= charsOf(carrier, sizeOf(profile), profile.joined));
    },
    raw: () => textOf(carrier.frame.bytes, carrier.frame.result),
  };
}

/** The approximate number of lines of a long view. If a result leaves less room, no notification is offered. */
const VIEW_LINES = 40;

function maxCharsOf(profile: Profile, carrier: Carrier): number {
  const { joined, maxErrorChars, maxResultChars } = profile;
  if (carrier.isError) return maxErrorChars;
  if (joined?.maxLines === undefined) return maxResultChars;
  return linesOf(carrier, joined.breaks) + VIEW_LINES > joined.maxLines ? 0 : maxResultChars;
}

function hasRoom(profile: Profile, carrier: Carrier, { chars, maxChars }: Result, text: string): boolean {
  if (!Number.isFinite(maxChars)) return true;
  if (chars + sizeOf(profile)(text) > maxChars) return false;
  const { breaks, maxLines } = profile.joined ?? {};
  return breaks === undefined || maxLines === undefined || linesOf(carrier, breaks) + linesIn(text) <= maxLines;
}
