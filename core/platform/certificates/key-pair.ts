/** A certificate chain and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}
