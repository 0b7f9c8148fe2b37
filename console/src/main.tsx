import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/conversation.css';
import './styles/notes.css';
import './styles/composer.css';
import './styles/why.css';
import './styles/conversation-narrow.css';
import './styles/pages.css';
import './styles/activity.css';
import './styles/settings.css';
import './styles/narrow.css';
import './styles/tasks.css';
import './styles/verdict.css';
import './parts/theme.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { begin } from './state/session.ts';

void begin();
const place = document.querySelector('#console');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
