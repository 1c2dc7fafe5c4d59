/** Preloaded by a process: shifts its wall clock by the milliseconds in a file. */
import { readFileSync } from 'node:fs';

const file = process.env['RUKPAK_CHAOS_CLOCK'] ?? '';
const polling = 100;
const RealDate = Date;

let offset = read();

function read(): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

setInterval(() => {
  offset = read();
}, polling).unref();

function now(): number {
  return RealDate.now() + offset;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget: typeof Date) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver: unknown) =>
    name === 'now' ? now : Reflect.get(target, name, receiver),
});
