/** An error of a part of a catalog, with the errors of its own parts. */
export interface Fault {
  readonly message: string;
  readonly faults: readonly (Fault | string)[];
}

/** A fault of the part; undefined if its checks found nothing. */
export function faultOf(
  message: string,
  found: readonly (Fault | string | undefined)[],
): Fault | undefined {
  const faults = found.filter((each) => each !== undefined);
  return faults.length === 0 ? undefined : { message, faults };
}

/** The faults as opm prints them, one per line. */
export function faultTree(root: Fault): string {
  return [`${root.message}:`, ...branches(root.faults, '')].join('\n').trim();
}

// No deeper than catalog, package, channel, bundle.
function branches(faults: readonly (Fault | string)[], indent: string): readonly string[] {
  return faults.flatMap((fault, index) => {
    const isLast = index === faults.length - 1;
    const lead = `${indent}${isLast ? '└── ' : '├── '}`;
    if (typeof fault === 'string') return [`${lead}${fault}`];
    const below = `${indent}${isLast ? '    ' : '│   '}`;
    return [`${lead}${fault.message}:`, ...branches(fault.faults, below)];
  });
}
