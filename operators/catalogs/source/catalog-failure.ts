/** The step that failed; the texts of conditions depend on it. */
export type FailedStep =
  /** The type of the source, or a missing image. */
  | 'source'
  /** The reference of the image. */
  | 'reference'
  /** The interval between two polls. */
  | 'interval'
  | 'keychain'
  /** The request for the image's digest. */
  | 'descriptor'
  /** Download and unpacking. */
  | 'image'
  /** The catalog's files. */
  | 'content';

interface FailureOptions extends ErrorOptions {
  readonly isFinal?: boolean;
  readonly brokenRef?: string;
  readonly isMissing?: boolean;
}

/** Why a catalog has no new content. */
export class CatalogFailure extends Error {
  override readonly name = 'CatalogFailure';
  readonly step: FailedStep;
  /** Whether only another spec helps. */
  readonly isFinal: boolean;
  /** The image whose content is broken: it stays so until the tag moves. */
  readonly brokenRef: string | undefined;
  /** Whether the registry says that it has no such image. */
  readonly isMissing: boolean;

  constructor(step: FailedStep, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.step = step;
    this.isFinal = options.isFinal ?? false;
    this.brokenRef = options.brokenRef;
    this.isMissing = options.isMissing ?? false;
  }
}
