/** Why a PUT is not taken, as its answer says. */
export class UploadRefusal extends Error {
  override readonly name = 'UploadRefusal';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export function tooLarge(limit: number): UploadRefusal {
  return new UploadRefusal(
    413,
    `the upload is larger than the limit of ${limit} bytes (--max-upload-bytes)`,
  );
}
