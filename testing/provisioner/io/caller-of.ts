/** Of a stack, the first place that is neither Node's nor this suite's. */
export function callerOf(stack: string): string {
  const frame = stack
    .split('\n')
    .slice(1)
    .map((line) => /[\s(]((?:file:\/\/|\/)[^()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((place) => place !== undefined && !place.includes('/testing/provisioner/io/'));
  return frame === undefined ? '' : ` at ${frame}`;
}
