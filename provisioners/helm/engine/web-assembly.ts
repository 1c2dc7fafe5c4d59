/** The used part of the global `WebAssembly`, whose types exist only in those of browsers. */
interface WasmNamespace {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  readonly Module: { imports(module: WasmModule): readonly WasmImport[] };
  readonly Instance: new (module: WasmModule, imports: WasmImports) => WasmInstance;
}

export interface WasmModule {
  readonly [Symbol.toStringTag]: 'WebAssembly.Module';
}

interface WasmImport {
  readonly module: string;
  readonly name: string;
}

export type WasmImports = Record<string, Record<string, (...args: never[]) => number>>;

interface WasmInstance {
  readonly exports: object;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export const { WebAssembly: webAssembly } = globalThis as typeof globalThis & {
  readonly WebAssembly: WasmNamespace;
};
