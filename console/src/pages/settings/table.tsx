/** Settings as they are, with who decided them. They are changed in their file: it is the one place for people and programs. */
import type { ReactElement } from 'react';
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
          <tr key={each.key}>
            <th scope="row" title={`expects ${each.expects}${each.env === null ? '' : ` · ${each.env}`}`}>
              <code>{each.key}</code>
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
