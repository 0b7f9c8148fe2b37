/** Receives webhooks over HTTP, and CloudEvents as JSON. An HTTP server passes each request to `receive`. */
export { eventFromCloudEvent } from './cloud-event.ts';
export { receive } from './receive.ts';
export { receiverFrom, WEBHOOK_LIMITS, type Refusal, type WebhookReceiver } from './receiver.ts';
export { replayWindow, type Replays } from './replays.ts';
