import { visibleText } from './visible-text.ts';

/** A line as Go's log package writes it, local time: what scripts around RukPak's tool look for. */
export function logLine(text: string, now = new Date()): string {
  const [year, ...rest] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const date = [String(year).padStart(4, '0'), ...rest.map(twoDigits)].join('/');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits).join(':');
  return `${date} ${time} ${visibleText(text.trimEnd())}\n`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
