/** Which Bundles' content is served. */
export interface ServedBundles {
  /**
   * UID of the Bundle that has this name now; undefined where there is none.
   * @throws WaitingError while it is not known.
   */
  uidOf(name: string): string | undefined;
  /**
   * Has content stored that is not stored here. True once it is, false where there is none to be had.
   * @throws WaitingError in one sentence where it cannot be had now; the signal's reason.
   */
  restore(name: string, signal: AbortSignal): Promise<boolean>;
}
