import { z } from 'zod';
import { visibleLine } from '../terminal/text.ts';

const entrySchema = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() });

/**
 * A line of the manager's log in readable form; other lines unchanged, with control characters
 * escaped.
 */
export function readableLine(line: string): string {
  const entry = entrySchema.safeParse(parsed(line)).data;
  if (entry === undefined) return visibleLine(line);
  const { level, time, msg, ...details } = entry;
  const words = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const clock = time.slice('2026-01-01T'.length, -'.000Z'.length);
  return visibleLine([clock, level.padEnd(5), msg, ...words].join(' '));
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
