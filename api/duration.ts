const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** What a Go duration such as `90s` or `1m30s` looks like, as far as Kubernetes objects use it. */
export const durationPattern = /^(\d{1,9}(\.\d{1,9})?(ms|s|m|h)){1,4}$/;

/** Whole milliseconds of a Go duration, or undefined where the text is none. */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  const sum = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * units[unit as keyof typeof units],
    0,
  );
  return Math.round(sum);
}
