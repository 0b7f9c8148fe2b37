/** Receives webhooks over HTTP, and CloudEvents as JSON. An HTTP server passes each request to `receive`. */
export { eventFromCloudEvent } from './cloud-event.ts';
export { receive, type Received, type WebhookRequest } from './receive.ts';
export {
  receiverFrom,
  WEBHOOK_KINDS,
  WEBHOOK_LIMITS,
  type Refusal,
  type WebhookReceiver,
  type WebhookSettings,
} from './receiver.ts';
export { replayWindow, type Replays } from './replays.ts';
