import { z } from 'zod';

const entrySchema = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() });

/** A line of the manager's log for a person; other lines as they are. */
export function readableLine(line: string): string {
  const entry = entrySchema.safeParse(parsed(line)).data;
  if (entry === undefined) return line;
  const { level, time, msg, ...details } = entry;
  const words = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [time.slice('2026-01-01T'.length, -'.000Z'.length), level.padEnd(5), msg, ...words].join(
    ' ',
  );
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
