import type { ReactElement } from 'react';
import { Empty } from '../parts/empty.tsx';
import type { Query } from '../route.ts';

export const TasksPage = ({ query: _query }: { readonly query: Query }): ReactElement => (
  <div className="page">
    <header className="page-head">
      <h1>Tasks</h1>
    </header>
    <Empty title="No tasks yet" />
  </div>
);
