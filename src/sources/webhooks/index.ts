/** What comes in over HTTP from others, and CloudEvents as JSON. Whoever serves HTTP gives it to `receive`. */
export { eventFromCloudEvent } from './cloud-event.ts';
export { receive } from './receive.ts';
export { receiverFrom, WEBHOOK_LIMITS, type Refusal, type WebhookReceiver } from './receiver.ts';
export { replayWindow, type Replays } from './replays.ts';
