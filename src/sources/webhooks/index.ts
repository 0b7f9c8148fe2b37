/** What comes in over HTTP from others, and CloudEvents as JSON. Whoever serves HTTP gives it to `receive`. */
export { cloudEventOf, cloudEventsIn, eventFromCloudEvent, type CloudEventDefaults } from './cloud-event.ts';
export { receive, type Received, type WebhookRequest } from './receive.ts';
export {
  receiverFrom,
  WEBHOOK_KINDS,
  WEBHOOK_LIMITS,
  type Refusal,
  type WebhookKind,
  type WebhookMap,
  type WebhookReceiver,
  type WebhookSettings,
} from './receiver.ts';
export { replayWindow, type Replays } from './replays.ts';
