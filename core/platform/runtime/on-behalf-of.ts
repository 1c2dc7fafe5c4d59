const creators = new WeakMap<AbortSignal, string>();

/** The same signal, of work that takes places on behalf of a creator. */
export function onBehalfOf(creator: string, signal: AbortSignal): AbortSignal {
  creators.set(signal, creator);
  return signal;
}

/** On whose behalf the work is done that was given this very signal; core's where nobody was named. */
export function creatorBehind(signal: AbortSignal): string {
  return creators.get(signal) ?? 'core';
}
