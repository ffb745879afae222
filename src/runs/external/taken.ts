/** What an agent elsewhere says, once it does. */
export interface ExternalAnswer {
  readonly text: string;
  /** It says that it failed, and `text` why. */
  readonly failed: boolean;
  /** The key of the message that it answers, where it names one. */
  readonly inReplyTo?: string | undefined;
}

export interface TakenAnswer {
  /** The run that ends with it. */
  readonly run_id?: string;
  /** Nobody waited for it; it is a message of the thread. */
  readonly late?: true;
  /** It was there already, and is not recorded again. */
  readonly duplicate?: true;
}
