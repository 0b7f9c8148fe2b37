/** Where a gateway dies, and at which time that it comes there. */
export const GATEWAY_POINTS = [
  'append.begun',
  'append.record_written',
  'append.items_written',
  'append.committed',
  'offer.planned',
  'offer.appended',
  // Around the moment when an answer is written the promises differ most.
  'carrier.before_bytes',
  'carrier.before_bytes',
  'carrier.before_bytes',
  'carrier.after_bytes',
  'carrier.after_bytes',
  'confirm.before',
  'confirm.after',
  'release.before',
  'touch.committed',
] as const;
