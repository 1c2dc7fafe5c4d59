/** What a child is told once; bytes are base64, and `module` exports `targets`. */
export type Order = FuzzOrder | JudgeOrder;

interface FuzzOrder {
  readonly type: 'fuzz';
  readonly module: string;
  readonly target: string;
  readonly time: number;
  readonly seed: number;
  readonly known: readonly string[];
  readonly maxFindings: number;
  /** Where it records which input it reads. */
  readonly flight: string;
}

interface JudgeOrder {
  readonly type: 'judge';
  readonly module: string;
  readonly target: string;
  readonly input: string;
}

export type FromChild =
  | { readonly type: 'finding'; readonly problem: string; readonly input: string }
  | { readonly type: 'done'; readonly inputs: number }
  | { readonly type: 'judged'; readonly problem: string | undefined };
