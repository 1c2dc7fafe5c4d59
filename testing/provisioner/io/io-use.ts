export interface IoUse {
  readonly kind: 'file' | 'network' | 'process';
  /** Such as `fs.readFileSync`, or `the network (TCPWRAP)`. */
  readonly what: string;
  /** ` at <file>:<line>:<column>` of who called; empty where that is not known. */
  readonly where: string;
}
