/**
 * Views that only say that there is something; the model fetches it with `get_notifications`. The Japanese texts are those
 * of the third of the designs that this system grew from, the English ones say the same.
 */
export type SignalTexts = { readonly none: string; readonly waiting: string; readonly interrupt: string };

/** What the field `notification` says, which is always there. */
export const signalText = (format: 'signal_en' | 'signal_ja', waiting: boolean): string =>
  waiting ? SIGNALS[format].waiting : SIGNALS[format].none;

export const SIGNALS: Readonly<Record<'signal_en' | 'signal_ja', SignalTexts>> = {
  signal_ja: {
    none: '通知はありません',
    waiting: '【重要】通知があります。get_notifications を呼び出して確認してください。',
    interrupt: '通知があります。\n\n1. get_notifications() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください',
  },
  signal_en: {
    none: 'No notifications',
    waiting: '[Important] There are notifications. Call get_notifications to read them.',
    interrupt:
      'There are notifications.\n\n1. Call get_notifications() for the details\n2. Follow the instructions of the notifications',
  },
};
