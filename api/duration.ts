const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const syntax = /^(\d+(\.\d+)?(ms|s|m|h))+$/;

/** The format of a Go duration such as `90s` or `1m30s` in a Kubernetes object. */
export const durationPattern = /^(\d{1,9}(\.\d{1,9})?(ms|s|m|h)){1,4}$/;

/** Whole milliseconds of a Go duration; undefined for an invalid text. */
export function parseDuration(text: string): number | undefined {
  if (!syntax.test(text)) return undefined;
  const sum = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * units[unit as keyof typeof units],
    0,
  );
  return Math.round(sum);
}
