/** Settings that the page shows but does not change, with the place that sets each of them. */
import { Fragment, type ReactElement, type ReactNode } from 'react';
import type { SettingReply } from '../../types.ts';

export const SettingTable = ({
  label,
  settings,
}: {
  readonly label: string;
  readonly settings: readonly SettingReply[];
}): ReactElement => (
  <div className="scroll-x" tabIndex={0} role="group" aria-label={label}>
    <table className="plain settings-table">
      <thead>
        <tr>
          <th scope="col">setting</th>
          <th scope="col">value</th>
          <th scope="col">decided by</th>
        </tr>
      </thead>
      <tbody>
        {settings.map((each) => (
          <tr key={each.key} data-setting={each.key} tabIndex={-1}>
            <th scope="row" title={`expects ${each.expects}${each.env === null ? '' : ` · ${each.env}`}`}>
              <code>
                <Breakable text={each.key} />
              </code>
            </th>
            <td className="words">
              <code>{each.text}</code>
              {each.overridden.map((one) => (
                <span key={one.decidedBy} className="muted words overridden">{`instead of ${one.text} (${one.decidedBy})`}</span>
              ))}
            </td>
            <td className="muted words">{each.decidedBy}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** Lets a dotted name break after its dots and underscores, and not in the middle of a word. */
export const Breakable = ({ text }: { readonly text: string }): ReactNode =>
  text.split(/(?<=[._])/u).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
