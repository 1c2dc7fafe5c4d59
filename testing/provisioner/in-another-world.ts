const year = 365 * 24 * 60 * 60 * 1000;

/** Calls at another time, in another time zone and with other random numbers of Math. */
export async function inAnotherWorld<T>(run: () => Promise<T>): Promise<T> {
  const { Date: realDate } = globalThis;
  const { random } = Math;
  const zone = process.env['TZ'];
  try {
    globalThis.Date = yearAhead(realDate);
    Math.random = () => 1 - random();
    process.env['TZ'] = zone === 'Pacific/Kiritimati' ? 'America/New_York' : 'Pacific/Kiritimati';
    return await run();
  } finally {
    globalThis.Date = realDate;
    Math.random = random;
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
}

/** `Date` whose now is a year ahead; dates that are given are as they are. */
function yearAhead(real: DateConstructor): DateConstructor {
  return new Proxy(real, {
    construct: (target, args: readonly unknown[], self) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + year] : args, self) as Date,
    apply: (target) => new target(target.now() + year).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => target.now() + year : (Reflect.get(target, name, receiver) as unknown),
  });
}
